// Operators that write at computed positions.
#include "onnx/node_import.h"
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
  ScatterNDAttrs attrs;
  attrs.reduction = reductionOf(node);
  node.setOutput(node.add(&ops::ScatterND, {node.input(0), node.input(1), node.input(2)}, attrs));
}

}  // namespace camshaft::onnx::importer
