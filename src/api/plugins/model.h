// Plugins that ONNX models name: made by the creators of a registry from the nodes' attributes.
#pragma once

#include <string_view>

#include "api/plugins/registry.h"
#include "onnx/plugins.h"

namespace camshaft::api {

class ModelPlugins final : public onnx::PluginSource {
 public:
  ModelPlugins(PluginRegistry& registry, bool overrides)
      : registry_(registry), overrides_(overrides) {}

  bool hasCreatorOf(std::string_view name) const;  // of any version and namespace
  bool has(const onnx::PluginRequest& request) const override;
  bool overrides() const override { return overrides_; }
  std::shared_ptr<const PluginOp> make(const onnx::PluginRequest& request) const override;

 private:
  nvinfer1::IPluginCreatorInterface* creatorOf(const onnx::PluginRequest& request) const;

  PluginRegistry& registry_;
  bool overrides_;
};

}  // namespace camshaft::api
