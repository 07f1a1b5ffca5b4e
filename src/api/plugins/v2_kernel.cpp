// IPluginV2 in an engine.
#include <mutex>

#include "api/plugins/tensors.h"
#include "api/plugins/v2.h"
#include "support/error.h"

namespace camshaft::api {
namespace {

using namespace nvinfer1;

class AttachedV2 final : public AttachedPlugin {
 public:
  AttachedV2(V2Object object, const PluginResources& resources)
      : code_(resources.code), object_(std::move(object)) {
    if (isExt()) object_.ext().attachToContext(nullptr, nullptr, resources.allocator);
  }
  ~AttachedV2() override {
    if (isExt()) object_.ext().detachFromContext();
  }
  AttachedV2(const AttachedV2&) = delete;
  AttachedV2& operator=(const AttachedV2&) = delete;

  void launch(const LaunchArgs& args) override {
    const bool isNew = tensors_.update(args);
    const auto stream = static_cast<cudaStream_t>(args.stream);
    if (!isDynamic(object_.version())) {
      if (args.inputs.empty() || args.inputs[0].rank == 0)
        fail(ErrorKind::kInvalidEngine, "the engine is damaged: a plugin has no batch");
      const auto batch = static_cast<int32_t>(args.inputs[0].dims[0]);
      return object_.require(object_.get().enqueue(batch, tensors_.inputs.data(),
                                                   tensors_.outputs.data(), args.workspace, stream),
                             "enqueue()");
    }
    if (isNew) configure();
    object_.require(object_.dynamicExt().enqueue(
                        tensors_.inputDescs.data(), tensors_.outputDescs.data(),
                        tensors_.inputs.data(), tensors_.outputs.data(), args.workspace, stream),
                    "enqueue()");
  }

 private:
  bool isExt() const { return object_.version() != PluginVersion::kV2; }

  // It is told the sizes that it is going to run at.
  void configure() {
    std::vector<DynamicPluginTensorDesc> inputs, outputs;
    for (const PluginTensorDesc& desc : tensors_.inputDescs) inputs.push_back(fixed(desc));
    for (const PluginTensorDesc& desc : tensors_.outputDescs) outputs.push_back(fixed(desc));
    object_.dynamicExt().configurePlugin(inputs.data(), static_cast<int32_t>(inputs.size()),
                                         outputs.data(), static_cast<int32_t>(outputs.size()));
  }

  std::shared_ptr<const void> code_;
  V2Object object_;
  LaunchTensors tensors_;
};

class V2Kernel final : public Plugin {
 public:
  V2Kernel(V2Object object, const PluginResources& resources)
      : resources_(resources), object_(std::move(object)) {
    object_.require(object_.get().initialize(), "initialize()");
  }
  ~V2Kernel() override { object_.get().terminate(); }
  V2Kernel(const V2Kernel&) = delete;
  V2Kernel& operator=(const V2Kernel&) = delete;

  std::unique_ptr<AttachedPlugin> attach() const override {
    const std::lock_guard lock(mutex_);
    return std::make_unique<AttachedV2>(object_.clone(), resources_);
  }

 private:
  PluginResources resources_;
  mutable std::mutex mutex_;
  V2Object object_;
};

}  // namespace

std::shared_ptr<const Plugin> makeV2Kernel(IPluginV2* owned, const PluginResources& resources) {
  return std::make_shared<V2Kernel>(V2Object(owned, "deserializePlugin()"), resources);
}

}  // namespace camshaft::api
