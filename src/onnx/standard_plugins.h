// TensorRT's standard plugins, which are operators of ours: models name them, and so do networks
// that are made by hand. Both go through one import function each.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ops/plugin.h"

namespace camshaft::onnx {

struct StandardField {
  enum class Kind { kInteger, kReal, kText };
  std::string name;
  Kind kind;
  int count;  // of numbers; 0: any
};

struct StandardPlugin {
  std::string_view name;
  std::vector<std::string> versions, versionsV3;  // of its creators, by the class that they make
  std::string_view inputs, outputs;               // types, as plugins.def has them
  std::vector<StandardField> fields;
};

std::span<const StandardPlugin> standardPlugins();

// The types of its outputs, one letter each.
std::string outputTypesOf(const StandardPlugin& plugin, const std::vector<PluginAttribute>& fields);

// Adds what the plugin is made of to a graph, before `before` or at its end, and returns its
// outputs. Throws Error, which names the node, and leaves the graph as it was.
std::vector<Value*> addStandardPlugin(camshaft::Graph& graph, const StandardPlugin& plugin,
                                      const std::string& name, const std::vector<Value*>& inputs,
                                      const std::vector<PluginAttribute>& fields,
                                      camshaft::Node* before = nullptr);

}  // namespace camshaft::onnx
