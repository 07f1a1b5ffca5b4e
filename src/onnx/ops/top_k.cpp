#include "onnx/node_import.h"
#include "ops/index.h"
#include "ops/shape.h"

namespace camshaft::onnx::importer {

void importTopK(NodeImport& node) {
  Value* x = node.input(0);
  TopKAttrs attrs;
  attrs.axis = node.axisAttribute("axis", -1, x->rank());
  attrs.k =
      node.opset() < 10
          ? Dim(node.integer("k"))
          : boundedSizes(node.graph(), node.input(1), {x->shape()[attrs.axis]}, node.name()).at(0);
  attrs.largest = node.flag("largest", true);
  const Node* top = node.addNode(&ops::TopK, {x}, std::move(attrs));
  node.setOutput(0, top->output(0));
  node.setOutput(1, top->output(1));
}

}  // namespace camshaft::onnx::importer
