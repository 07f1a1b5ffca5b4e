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

// The bytes must outlive the model. Without a folder, external data is refused when asked for.
LoadedModel readModelBytes(std::span<const std::byte> bytes,
                           std::optional<std::filesystem::path> folder = std::nullopt);

}  // namespace camshaft::onnx
