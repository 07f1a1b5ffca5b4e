// Strings that a model carries along without computing from them, such as labels.
#pragma once

#include "onnx/node_import.h"
#include "onnx/scope.h"

namespace camshaft::onnx::importer {

// Whether the node moves or chooses strings among its inputs, and does nothing else.
bool passesStrings(const wire::Node& node, const Scope& scope);
// Its import: all its outputs are strings.
void importStrings(NodeImport& node);

// What to do about an output of strings.
std::string adviceOn(const Strings& strings);

}  // namespace camshaft::onnx::importer
