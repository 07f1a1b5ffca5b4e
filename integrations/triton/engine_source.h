// Where a model's engines come from: an engine file, or an ONNX file that is built when the model
// is loaded and kept in a folder of engines by its content.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "NvInfer.h"
#include "settings.h"
#include "signature.h"

namespace triton_backend {

struct Placement {
  bool onGpu = false;
  int32_t gpu = 0;
  auto operator<=>(const Placement&) const = default;
};

class EngineSource {
 public:
  explicit EngineSource(std::filesystem::path file) : file_(std::move(file)) {}

  // What the file says, without building it.
  Signature signature(const Settings& settings) const;
  bool isBuilt() const { return file_.extension() != ".onnx"; }
  // Of an engine file; empty for one that is yet to be built.
  std::vector<Profile> profiles() const;

  // The engine for a place, which all instances there share; built and loaded by whoever asks
  // first. Any thread may ask.
  std::shared_ptr<nvinfer1::ICudaEngine> engine(Placement placement, const Settings& settings);

 private:
  std::filesystem::path file_;
  std::mutex mutex_;
  std::map<Placement, std::shared_ptr<nvinfer1::ICudaEngine>> engines_;
};

// The file of a model's version: `wanted`, where there is one of that name, else model.onnx,
// model.engine or model.plan.
std::filesystem::path findModelFile(const std::filesystem::path& folder, const std::string& wanted);

// The folder of engines where no setting names one; empty where this user has no folder of caches.
std::filesystem::path defaultEngineCache();

}  // namespace triton_backend
