#include "onnx/node_import.h"
#include "ops/attention.h"

namespace camshaft::onnx::importer {

// MultiscaleDeformableAttnPlugin_TRT gives [N, queries, heads, size]; models that declare its
// result with the heads side by side get them so.
void importDeformableAttention(NodeImport& node) {
  Value* y = node.add(&ops::DeformableAttention,
                      {node.input(0), node.input(1), node.input(2), node.input(3), node.input(4)},
                      NoAttrs{});
  const Shape& shape = y->shape();
  if (node.declaredRank(0) == 3) y = node.reshape(y, {shape[0], shape[1], shape[2] * shape[3]});
  node.setOutput(y);
}

}  // namespace camshaft::onnx::importer
