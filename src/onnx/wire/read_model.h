// Reads ONNX models, trusting nothing in them.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>

#include "onnx/wire/external_data.h"
#include "onnx/wire/model.h"

namespace camshaft::onnx {

struct LoadedModel {
  Model model;
  std::shared_ptr<const ModelFiles> files;  // keeps every view in `model` alive
};

// Maps the file; external data is looked up beside it.
LoadedModel readModelFile(const std::filesystem::path& path);

// The bytes must outlive the model. Without the path of the file that they came from, external data
// is refused when asked for.
LoadedModel readModelBytes(std::span<const std::byte> bytes,
                           const std::optional<std::filesystem::path>& path = std::nullopt);

}  // namespace camshaft::onnx
