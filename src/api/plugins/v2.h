// IPluginV2 in its four classes, of which TensorRT deprecates all.
#pragma once

#include <memory>

#include "api/plugins/kernels.h"
#include "api/plugins/params.h"

namespace camshaft {
class PluginOp;
}

namespace camshaft::api {

// All but IPluginV2DynamicExt see tensors without their first dimension, the batch.
bool isDynamic(nvinfer1::PluginVersion version);

class V2Object {
 public:
  // Owned from here on. `what` made it: "clone()"; throws where it is null.
  V2Object(nvinfer1::IPluginV2* object, const char* what);

  nvinfer1::PluginVersion version() const { return version_; }
  const PluginName& name() const { return name_; }
  nvinfer1::IPluginV2& get() const { return *object_; }
  // Of that class: see version().
  nvinfer1::IPluginV2Ext& ext() const { return static_cast<nvinfer1::IPluginV2Ext&>(*object_); }
  nvinfer1::IPluginV2IOExt& ioExt() const {
    return static_cast<nvinfer1::IPluginV2IOExt&>(*object_);
  }
  nvinfer1::IPluginV2DynamicExt& dynamicExt() const {
    return static_cast<nvinfer1::IPluginV2DynamicExt&>(*object_);
  }
  V2Object clone() const { return cloneOf(*object_); }
  static V2Object cloneOf(const nvinfer1::IPluginV2& plugin);
  void require(int32_t status, const char* call) const;

 private:
  struct Destroy {
    void operator()(nvinfer1::IPluginV2* object) const noexcept { object->destroy(); }
  };
  std::unique_ptr<nvinfer1::IPluginV2, Destroy> object_;
  nvinfer1::PluginVersion version_;
  PluginName name_;
};

// A clone of the user's object as an operator (v2_operator.cpp); v2ObjectOf() gives it back, or
// null for any other operator.
std::shared_ptr<const PluginOp> makeV2Operator(nvinfer1::IPluginV2& plugin);
nvinfer1::IPluginV2* v2ObjectOf(const PluginOp& plugin);

// An object that a creator made, to be run (v2_kernel.cpp).
std::shared_ptr<const Plugin> makeV2Kernel(nvinfer1::IPluginV2* owned,
                                           const PluginResources& resources);

}  // namespace camshaft::api
