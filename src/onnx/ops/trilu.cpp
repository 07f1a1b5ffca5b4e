#include "onnx/node_import.h"
#include "ops/move.h"

namespace camshaft::onnx::importer {

void importTrilu(NodeImport& node) {
  TriluAttrs attrs;
  attrs.upper = node.flag("upper", true);
  if (node.hasInput(1)) attrs.diagonal = node.dims(1).at(0);
  node.setOutput(node.add(&ops::Trilu, {node.input(0)}, std::move(attrs)));
}

}  // namespace camshaft::onnx::importer
