// Operators that no table knows and the user brings.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "ops/plugin.h"

namespace camshaft::onnx {

// A node's plugin: its operator's name, and the attributes plugin_version and plugin_namespace.
struct PluginRequest {
  std::string name, version, space;
  std::string node;
  std::vector<PluginAttribute> attributes;  // the node's others
};

class PluginSource {
 public:
  virtual ~PluginSource() = default;
  virtual bool has(const PluginRequest& request) const = 0;
  // Whether its operators come before those of the standard that have the same name.
  virtual bool overrides() const { return false; }
  // Of what it has. Throws Error saying what is wrong with an attribute.
  virtual std::shared_ptr<const PluginOp> make(const PluginRequest& request) const = 0;
};

}  // namespace camshaft::onnx
