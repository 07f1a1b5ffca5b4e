// What of com.microsoft is a few elementwise operators or a reshape of ONNX.
#include "onnx/node_import.h"
#include "onnx/ops/run_time_axes.h"

namespace camshaft::onnx::importer {

void importGatedAdd(NodeImport& node) {
  node.setOutput(node.binary(ScalarOp::kAdd, node.input(0),
                             node.binary(ScalarOp::kMul, node.input(1), node.input(2))));
}

void importExpandDims(NodeImport& node) {
  Value* x = node.input(0);
  const auto axis = node.knownIntegers(node.input(1));
  if (!axis) return node.setOutput(unsqueezeAtRunTime(node, x, node.reshape(node.input(1), {})));
  if (axis->size() != 1) node.invalid("its axis must be one number");
  Shape shape = x->shape();
  shape.insert(shape.begin() + node.axis(axis->front(), x->rank() + 1), Dim(1));
  node.setOutput(node.reshape(x, std::move(shape)));
}

}  // namespace camshaft::onnx::importer
