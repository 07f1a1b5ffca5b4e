// ONNX in, engine out.
#pragma once

#include <filesystem>
#include <memory>

#include "NvInfer.h"
#include "engine_source.h"
#include "settings.h"
#include "signature.h"

namespace triton_backend {

Signature signatureOfOnnx(const std::filesystem::path& file);

std::unique_ptr<nvinfer1::IHostMemory> buildEngine(const std::filesystem::path& file,
                                                   Placement placement, const Settings& settings);

}  // namespace triton_backend
