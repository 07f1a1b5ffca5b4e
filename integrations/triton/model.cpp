#include "model.h"

#include <filesystem>
#include <nlohmann/json.hpp>

#include "errors.h"
#include "log.h"
#include "model_config.h"

namespace triton_backend {
namespace {

using nlohmann::json;

struct DeleteMessage {
  void operator()(TRITONSERVER_Message* message) const {
    report(TRITONSERVER_MessageDelete(message));
  }
};
using Message = std::unique_ptr<TRITONSERVER_Message, DeleteMessage>;

json toJson(TRITONSERVER_Message* message) {
  const char* text = nullptr;
  size_t size = 0;
  check(TRITONSERVER_MessageSerializeToJson(message, &text, &size));
  return json::parse(text, text + size);
}

json configOf(TRITONBACKEND_Model* model) {
  TRITONSERVER_Message* message = nullptr;
  check(TRITONBACKEND_ModelConfig(model, 1, &message));
  return toJson(Message(message).get());
}

void setConfig(TRITONBACKEND_Model* model, const json& config) {
  const std::string text = config.dump();
  TRITONSERVER_Message* message = nullptr;
  check(TRITONSERVER_MessageNewFromSerializedJson(&message, text.data(), text.size()));
  check(TRITONBACKEND_ModelSetConfig(model, 1, Message(message).get()));
}

// What --backend-config says for this backend and for all of them.
json commandLine(TRITONBACKEND_Model* model) {
  TRITONBACKEND_Backend* backend = nullptr;
  check(TRITONBACKEND_ModelBackend(model, &backend));
  TRITONSERVER_Message* message = nullptr;  // the backend's own
  check(TRITONBACKEND_BackendConfig(backend, &message));
  return toJson(message).value("cmdline", json::object());
}

std::filesystem::path folderOf(TRITONBACKEND_Model* model) {
  TRITONBACKEND_ArtifactType type;
  const char* location = nullptr;
  check(TRITONBACKEND_ModelRepository(model, &type, &location));
  if (type != TRITONBACKEND_ARTIFACT_FILESYSTEM)
    fail(TRITONSERVER_ERROR_UNSUPPORTED, "models are read from folders alone");
  return location;
}

}  // namespace

Model::Model(TRITONBACKEND_Model* model) {
  const std::filesystem::path folder = folderOf(model);
  uint64_t version = 0;
  check(TRITONBACKEND_ModelVersion(model, &version));
  json config = configOf(model);
  const json options = commandLine(model);

  settings_ = readSettings(config, folder);
  if (settings_.engineCache.empty()) settings_.engineCache = options.value("engine_cache", "");
  source_ = std::make_unique<EngineSource>(
      findModelFile(folder / std::to_string(version), config.value("default_model_filename", "")));
  signature_ = source_->signature(settings_);
  if (source_->isBuilt()) settings_.profiles = source_->profiles();

  bool isCompleted = false;
  check(TRITONBACKEND_ModelAutoCompleteConfig(model, &isCompleted));
  if (isCompleted) {
    const std::string batch = options.value("default-max-batch-size", "4");
    completeConfig(config, signature_, settings_.profiles, std::stoll(batch));
    setConfig(model, config);
  }
  checkConfig(config, signature_, settings_.profiles);
  maxBatchSize_ = triton_backend::maxBatchSize(config);
  if (settings_.profiles.empty()) settings_.profiles = defaultProfiles(config, signature_);
}

std::shared_ptr<nvinfer1::ICudaEngine> Model::engineFor(TRITONBACKEND_ModelInstance* instance) {
  TRITONSERVER_InstanceGroupKind kind;
  int32_t gpu = 0;
  check(TRITONBACKEND_ModelInstanceKind(instance, &kind));
  check(TRITONBACKEND_ModelInstanceDeviceId(instance, &gpu));
  Placement placement;
  if (kind == TRITONSERVER_INSTANCEGROUPKIND_GPU) placement = {true, gpu};
  const std::string device = settings_.device();
  if (kind == TRITONSERVER_INSTANCEGROUPKIND_MODEL) placement.onGpu = device == "gpu";
  if (device != "auto" && placement.onGpu != (device == "gpu"))
    fail(TRITONSERVER_ERROR_INVALID_ARG, "the setting 'device' is ", device,
         " and an instance group is of ", placement.onGpu ? "KIND_GPU" : "KIND_CPU");
  return source_->engine(placement, settings_);
}

}  // namespace triton_backend
