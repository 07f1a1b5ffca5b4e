#include "onnx/size.h"
#include "ops/move.h"

namespace camshaft::onnx::importer {

void importTrilu(NodeImport& node) {
  Value* x = node.input(0, Ranks::from(2));
  TriluAttrs attrs;
  attrs.upper = node.flag("upper", true);
  // Below the last row there is no further diagonal.
  const Dim lowest = Dim(0) - x->shape()[x->rank() - 2];
  if (node.hasInput(1)) attrs.diagonal = dimsFrom(node, node.input(1), {lowest}).at(0);
  node.setOutput(node.add(&ops::Trilu, {x}, std::move(attrs)));
}

}  // namespace camshaft::onnx::importer
