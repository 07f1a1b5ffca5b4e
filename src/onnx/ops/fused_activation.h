#pragma once

#include "onnx/node_import.h"

namespace camshaft::onnx::importer {

// f(x) for an activation by its ONNX name and parameters, in the order its operator declares them;
// those left out have the operator's defaults. "" is x itself.
Value* activate(const NodeImport& node, Value* x, std::string_view name,
                const std::vector<double>& parameters);

}  // namespace camshaft::onnx::importer
