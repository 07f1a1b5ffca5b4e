// IPluginV3: an object of the user's with three capabilities.
#pragma once

#include <memory>
#include <mutex>

#include "api/plugins/kernels.h"
#include "api/plugins/params.h"

namespace camshaft {
class PluginOp;
}

namespace camshaft::api {

// The object, and its capabilities by their classes: each throws where the object lacks it.
class V3Object {
 public:
  // Owned from here on. `what` made it: "clone()"; throws where it is null.
  V3Object(nvinfer1::IPluginV3* object, const char* what);

  nvinfer1::IPluginV3& get() const { return *object_; }
  const PluginName& name() const { return name_; }
  nvinfer1::IPluginV3OneBuild& build() const;
  nvinfer1::IPluginV3OneRuntime& runtime() const;
  V3Object clone() const { return {object_->clone(), "clone()"}; }
  // Throws where a call gave another status than 0.
  void require(int32_t status, const char* call) const;
  template <class... Args>
  [[noreturn]] void refuse(const Args&... args) const {
    fail(ErrorKind::kInvalidArgument, "plugin ", toString(name_), " ", args...);
  }

 private:
  nvinfer1::IPluginCapability& capability(nvinfer1::PluginCapabilityType type,
                                          std::string_view kind) const;

  std::unique_ptr<nvinfer1::IPluginV3> object_;
  PluginName name_;
};

// A clone of the user's object as an operator (v3_operator.cpp); v3ObjectOf() gives it back,
// or null for any other operator.
std::shared_ptr<const PluginOp> makeV3Operator(nvinfer1::IPluginV3& plugin);
nvinfer1::IPluginV3* v3ObjectOf(const PluginOp& plugin);

// An object that a creator made, to be run (v3_kernel.cpp).
std::shared_ptr<const Plugin> makeV3Kernel(nvinfer1::IPluginV3* owned, const PluginParams& params,
                                           const PluginResources& resources);

}  // namespace camshaft::api
