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
#include <vector>

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

// Where external data may lie.
struct ModelPlace {
  std::filesystem::path folder;               // locations are looked up here
  std::vector<std::filesystem::path> linked;  // links found there may lead into these too

  // Of a model's file. Where that is a link, as in a download cache that keeps its files in one
  // folder and links to them from others, its data may be links into the same folder. The
  // environment variable CAMSHAFT_DATA_FOLDERS names more, separated by colons.
  static ModelPlace ofFile(const std::filesystem::path& file);
};

// External files are mapped on first use, once each. Safe to share between threads.
class ModelFiles {
 public:
  // Without a place, external data is refused. `model` holds every non-external tensor.
  ModelFiles(OwnedBytes model, std::optional<ModelPlace> place)
      : model_(std::move(model)), place_(std::move(place)) {}

  const OwnedBytes& model() const { return model_; }

  // Exactly `size` bytes. Throws Error naming `what` when the location is absolute, leaves the
  // model's folder (by "..", or by a link elsewhere than into the folders of its place), is no
  // regular file, or holds too few bytes.
  OwnedBytes external(const ExternalData& data, uint64_t size, std::string_view what) const;

 private:
  std::filesystem::path resolve(std::string_view location, std::string_view what) const;
  std::shared_ptr<const MappedFile> open(const std::filesystem::path& path) const;

  OwnedBytes model_;
  std::optional<ModelPlace> place_;
  mutable std::mutex mutex_;
  mutable std::map<std::filesystem::path, std::shared_ptr<const MappedFile>> mapped_;
};

}  // namespace camshaft::onnx
