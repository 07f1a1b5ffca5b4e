// The files behind a model: its own bytes, and those its external tensors point into.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "onnx/wire/model.h"

namespace camshaft {
class MappedFile;
}

namespace camshaft::onnx {

// Bytes, and what keeps them alive; null when that is the caller's business.
struct OwnedBytes {
  std::span<const std::byte> bytes;
  std::shared_ptr<const void> owner;
};

// External files are mapped on first use, once each. Safe to share between threads.
class ModelFiles {
 public:
  // Without a folder, external data is refused. `model` holds every non-external tensor.
  ModelFiles(OwnedBytes model, std::optional<std::filesystem::path> folder)
      : model_(std::move(model)), folder_(std::move(folder)) {}

  const OwnedBytes& model() const { return model_; }

  // Exactly `size` bytes. Throws Error naming `what` when the location is absolute, leaves the
  // model's folder (by ".." or a symbolic link), is no regular file, or holds too few bytes.
  OwnedBytes external(const ExternalData& data, uint64_t size, std::string_view what) const;

 private:
  std::filesystem::path resolve(std::string_view location, std::string_view what) const;
  std::shared_ptr<const MappedFile> open(const std::filesystem::path& path) const;

  OwnedBytes model_;
  std::optional<std::filesystem::path> folder_;
  mutable std::mutex mutex_;
  mutable std::map<std::filesystem::path, std::shared_ptr<const MappedFile>> mapped_;
};

}  // namespace camshaft::onnx
