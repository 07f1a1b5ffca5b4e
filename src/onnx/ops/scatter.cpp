// Operators that write at computed positions.
#include "onnx/ops/index_tuples.h"
#include "ops/index.h"

namespace camshaft::onnx::importer {

namespace {

ScatterReduction reductionOf(const NodeImport& node) {
  return static_cast<ScatterReduction>(
      node.choice("reduction", "none", {"none", "add", "mul", "min", "max"}));
}

}  // namespace

void importScatterElements(NodeImport& node) {
  Value* x = node.input(0);
  ScatterElementsAttrs attrs;
  attrs.axis = node.axisAttribute("axis", 0, x->rank());
  attrs.reduction = reductionOf(node);
  node.setOutput(node.add(&ops::ScatterElements, {x, node.input(1), node.input(2)}, attrs));
}

void importScatterND(NodeImport& node) {
  Value *x = node.input(0), *indices = node.input(1, Ranks::from(1)), *updates = node.input(2);
  ScatterNDAttrs attrs;
  attrs.reduction = reductionOf(node);
  indices = asTuples(node, indices, indices->rank() - 1 + x->rank() - updates->rank());
  node.setOutput(node.add(&ops::ScatterND, {x, indices, updates}, attrs));
}

}  // namespace camshaft::onnx::importer
