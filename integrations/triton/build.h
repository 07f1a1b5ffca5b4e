// ONNX in, engine out.
#pragma once

#include <filesystem>
#include <memory>

#include "NvInfer.h"
#include "engine_source.h"
#include "settings.h"
#include "signature.h"

namespace triton_backend {

Signature signatureOfOnnx(const std::filesystem::path& file, const Settings& settings);

// Into the file `saved`, so that the engine is never in memory as a whole; false, with a warning,
// where that cannot be written.
bool buildEngineFile(const std::filesystem::path& file, Placement placement,
                     const Settings& settings, const std::filesystem::path& saved);
std::unique_ptr<nvinfer1::ICudaEngine> buildEngine(const std::filesystem::path& file,
                                                   Placement placement, const Settings& settings);

}  // namespace triton_backend
