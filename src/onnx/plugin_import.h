// Nodes that are plugins.
#pragma once

#include "onnx/names.h"
#include "onnx/plugins.h"

namespace camshaft::onnx::importer {

class NodeImport;

PluginRequest pluginRequest(const wire::Node& node);  // without attributes
void importPlugin(NodeImport& node);

}  // namespace camshaft::onnx::importer
