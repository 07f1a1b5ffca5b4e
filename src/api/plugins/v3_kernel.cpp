// IPluginV3 in an engine.
#include <mutex>

#include "api/plugins/tensors.h"
#include "api/plugins/v3.h"
#include "support/error.h"

namespace camshaft::api {
namespace {

using namespace nvinfer1;

class ResourceContext final : public IPluginResourceContext {
 public:
  explicit ResourceContext(const PluginResources& resources) : resources_(resources) {}
  IGpuAllocator* getGpuAllocator() const noexcept override { return resources_.allocator; }
  IErrorRecorder* getErrorRecorder() const noexcept override { return resources_.recorder.get(); }

 private:
  PluginResources resources_;
};

class AttachedV3 final : public AttachedPlugin {
 public:
  AttachedV3(std::unique_ptr<ResourceContext> context, V3Object object, const PluginParams& params)
      : context_(std::move(context)),
        object_(std::move(object)),
        runtime_(object_.runtime()),
        aliases_(params.aliases) {
    object_.require(runtime_.setTactic(params.tactic), "setTactic()");
  }

  std::span<const int32_t> aliases() const override { return aliases_; }

  void launch(const LaunchArgs& args) override {
    if (tensors_.update(args))
      object_.require(runtime_.onShapeChange(tensors_.inputDescs.data(),
                                             static_cast<int32_t>(tensors_.inputDescs.size()),
                                             tensors_.outputDescs.data(),
                                             static_cast<int32_t>(tensors_.outputDescs.size())),
                      "onShapeChange()");
    for (size_t i = 0; i < aliases_.size(); ++i)
      if (aliases_[i] >= 0) tensors_.inputs[static_cast<size_t>(aliases_[i])] = tensors_.outputs[i];
    object_.require(runtime_.enqueue(tensors_.inputDescs.data(), tensors_.outputDescs.data(),
                                     tensors_.inputs.data(), tensors_.outputs.data(),
                                     args.workspace, static_cast<cudaStream_t>(args.stream)),
                    "enqueue()");
  }

 private:
  std::unique_ptr<ResourceContext> context_;  // outlives the object, which may use it
  V3Object object_;
  IPluginV3OneRuntime& runtime_;
  std::vector<int32_t> aliases_;
  LaunchTensors tensors_;
};

class V3Kernel final : public Plugin {
 public:
  V3Kernel(V3Object object, PluginParams params, const PluginResources& resources)
      : resources_(resources), object_(std::move(object)), params_(std::move(params)) {}

  std::unique_ptr<AttachedPlugin> attach() const override {
    const std::lock_guard lock(mutex_);
    auto context = std::make_unique<ResourceContext>(resources_);
    V3Object own(object_.runtime().attachToContext(context.get()), "attachToContext()");
    return std::make_unique<AttachedV3>(std::move(context), std::move(own), params_);
  }

 private:
  PluginResources resources_;
  mutable std::mutex mutex_;
  V3Object object_;
  PluginParams params_;
};

}  // namespace

std::shared_ptr<const Plugin> makeV3Kernel(IPluginV3* owned, const PluginParams& params,
                                           const PluginResources& resources) {
  return std::make_shared<V3Kernel>(V3Object(owned, "createPlugin()"), params, resources);
}

}  // namespace camshaft::api
