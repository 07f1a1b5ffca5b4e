#include "api/plugins/v2.h"
#include "support/error.h"

namespace camshaft::api {

using namespace nvinfer1;

bool isDynamic(PluginVersion version) { return version == PluginVersion::kV2_DYNAMICEXT; }

V2Object::V2Object(IPluginV2* object, const char* what) : object_(object) {
  if (!object_) fail(ErrorKind::kInvalidArgument, what, " of a plugin gave no object");
  const auto textOf = [](const char* text) { return std::string(text ? text : ""); };
  name_ = {textOf(object_->getPluginType()), textOf(object_->getPluginVersion()),
           textOf(object_->getPluginNamespace())};
  const auto number = static_cast<uint32_t>(object_->getTensorRTVersion()) >> 24;
  if (number > static_cast<uint32_t>(PluginVersion::kV2_DYNAMICEXT))
    fail(ErrorKind::kUnsupported, "plugin ", toString(name_), " is of class version ", number,
         ", which is not supported; write it as IPluginV3");
  version_ = static_cast<PluginVersion>(number);
}

// Not every plugin copies its namespace.
V2Object V2Object::cloneOf(const IPluginV2& plugin) {
  const char* space = plugin.getPluginNamespace();
  V2Object copy(plugin.clone(), "clone()");
  copy.name_.space = space ? space : "";
  copy.object_->setPluginNamespace(copy.name_.space.c_str());
  return copy;
}

void V2Object::require(int32_t status, const char* call) const {
  if (status != 0)
    fail(ErrorKind::kInvalidArgument, "plugin ", toString(name_), " failed: its ", call,
         " returned ", status);
}

}  // namespace camshaft::api
