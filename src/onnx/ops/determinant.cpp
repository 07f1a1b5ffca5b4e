#include "onnx/node_import.h"
#include "ops/ops.h"

namespace camshaft::onnx::importer {

void importDet(NodeImport& node) {
  node.setOutput(node.add(&ops::Determinant, {node.input(0)}, NoAttrs{}));
}

}  // namespace camshaft::onnx::importer
