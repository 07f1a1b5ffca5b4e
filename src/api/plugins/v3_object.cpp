#include "api/plugins/v3.h"
#include "support/error.h"

namespace camshaft::api {

using namespace nvinfer1;

V3Object::V3Object(IPluginV3* object, const char* what) : object_(object) {
  if (!object_) fail(ErrorKind::kInvalidArgument, what, " of a plugin gave no object");
  const auto& core = static_cast<const IPluginV3OneCore&>(
      capability(PluginCapabilityType::kCORE, "PLUGIN_V3ONE_CORE"));
  const auto textOf = [](const char* text) { return std::string(text ? text : ""); };
  name_ = {textOf(core.getPluginName()), textOf(core.getPluginVersion()),
           textOf(core.getPluginNamespace())};
}

IPluginCapability& V3Object::capability(PluginCapabilityType type, std::string_view kind) const {
  IPluginCapability* capability = object_->getCapabilityInterface(type);
  if (!capability) refuse("lacks the capability ", kind);
  if (std::string_view(capability->getInterfaceInfo().kind) != kind)
    refuse("has a capability '", capability->getInterfaceInfo().kind, "' in the place of ", kind);
  return *capability;
}

IPluginV3OneBuild& V3Object::build() const {
  return static_cast<IPluginV3OneBuild&>(
      capability(PluginCapabilityType::kBUILD, "PLUGIN_V3ONE_BUILD"));
}

IPluginV3OneRuntime& V3Object::runtime() const {
  return static_cast<IPluginV3OneRuntime&>(
      capability(PluginCapabilityType::kRUNTIME, "PLUGIN_V3ONE_RUNTIME"));
}

void V3Object::require(int32_t status, const char* call) const {
  if (status != 0) refuse("failed: its ", call, " returned ", status);
}

}  // namespace camshaft::api
