// Layers that are plugins.
#pragma once

#include "api/layers/layer.h"
#include "api/plugins/v2.h"
#include "api/plugins/v3.h"
#include "ops/plugin.h"

namespace camshaft::api {

// Of either version: inputs, then inputs that hold sizes, which become attributes of the node.
template <nvinfer1::LayerType type>
struct PluginLayerParams {
  static constexpr auto kType = type;
  static constexpr int32_t kMaxInputs = 1 << 16;
  std::shared_ptr<const PluginOp> plugin;
  size_t shapeInputs = 0;

  std::vector<Value*> emit(Emission& at) const {
    const auto first = at.inputs.end() - static_cast<std::ptrdiff_t>(shapeInputs);
    PluginAttrs attrs(plugin);
    for (size_t i = at.inputs.size() - shapeInputs; i < at.inputs.size(); ++i)
      attrs.addSizes(at.dims(i));
    return addPlugin(at.graph, at.name, {at.inputs.begin(), first}, std::move(attrs), at.before);
  }
};

class PluginV2Layer
    : public LayerOf<nvinfer1::IPluginV2Layer, PluginLayerParams<nvinfer1::LayerType::kPLUGIN_V2>> {
 public:
  using LayerOf::LayerOf;
  nvinfer1::IPluginV2& getPlugin() noexcept override { return *v2ObjectOf(*params_.plugin); }
};

class PluginV3Layer
    : public LayerOf<nvinfer1::IPluginV3Layer, PluginLayerParams<nvinfer1::LayerType::kPLUGIN_V3>> {
 public:
  using LayerOf::LayerOf;
  nvinfer1::IPluginV3& getPlugin() noexcept override { return *v3ObjectOf(*params_.plugin); }
};

}  // namespace camshaft::api
