#include "api/plugins/loader.h"

#include "api/plugins/params.h"
#include "api/plugins/v2.h"
#include "api/plugins/v3.h"
#include "support/error.h"

namespace camshaft::api {
namespace {

using namespace nvinfer1;

IPluginCreatorInterface& creatorOf(const PluginName& name, IPluginRegistry& registry) {
  IPluginCreatorInterface* creator =
      registry.getCreator(name.name.c_str(), name.version.c_str(), name.space.c_str());
  if (!creator)
    fail(ErrorKind::kInvalidArgument, "plugin ", toString(name),
         " has no creator here; register it with getPluginRegistry()->registerCreator() or load "
         "its library with loadLibrary() before the engine");
  return *creator;
}

[[noreturn]] void refuseClass(const PluginName& name, std::string_view wanted) {
  fail(ErrorKind::kInvalidArgument, "plugin ", toString(name),
       " has a creator of another class here; the engine was built with an ", wanted);
}

std::shared_ptr<const Plugin> load(std::span<const std::byte> bytes, PluginRegistry& registry,
                                   const PluginResources& resources) {
  const PluginParams params = PluginParams::read(bytes);
  const PluginName& name = params.name;
  IPluginCreatorInterface& creator = creatorOf(name, registry);
  if (params.version == PluginParams::Version::kV2) {
    IPluginCreator* second = asV1(&creator);
    if (!second) refuseClass(name, "IPluginCreator");
    IPluginV2* made =
        second->deserializePlugin(name.name.c_str(), params.data.data(), params.data.size());
    if (made) made->setPluginNamespace(name.space.c_str());
    return makeV2Kernel(made, resources);
  }
  IPluginCreatorV3One* third = asV3One(&creator);
  if (!third) refuseClass(name, "IPluginCreatorV3One");
  PluginFields fields(std::span<const std::byte>(params.data));
  const PluginFieldCollection view = fields.view();
  return makeV3Kernel(third->createPlugin(name.name.c_str(), &view, TensorRTPhase::kRUNTIME),
                      params, resources);
}

}  // namespace

PluginLoader pluginLoader(std::shared_ptr<PluginRegistry> registry, IGpuAllocator* allocator,
                          const Reporter& reporter) {
  return [registry = std::move(registry), allocator,
          recorder = RecorderUse(reporter.recorder())](std::span<const std::byte> params) {
    return load(params, *registry,
                {.code = registry, .allocator = allocator, .recorder = recorder});
  };
}

}  // namespace camshaft::api
