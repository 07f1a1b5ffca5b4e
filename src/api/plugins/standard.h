// TensorRT's standard plugins for networks that are made by hand: creators, and the objects that
// they make. Such an object never runs; what its layer becomes are operators of ours.
#pragma once

#include <string>
#include <vector>

#include "ir/graph.h"

namespace camshaft::api {

class PluginRegistry;

// Creators of all of them, which are never ended, unless the namespace has them already.
void registerStandardPlugins(PluginRegistry& registry, const char* pluginNamespace);

// The outputs of a standard plugin's object (an IPluginV2 or IPluginV3), whose operators are added;
// none where it is an object of the user's.
std::vector<Value*> addStandardObject(const void* object, Graph& graph, const std::string& name,
                                      const std::vector<Value*>& inputs, Node* before);

}  // namespace camshaft::api
