#include "onnx/node_import.h"
#include "ops/move.h"

namespace camshaft::onnx::importer {

void importConcat(NodeImport& node) {
  const std::vector<Value*> inputs = node.allInputs();
  if (inputs.empty()) node.invalid("it has no inputs");
  if (node.opset() >= 4) node.integer("axis");  // required since
  ConcatAttrs attrs;
  attrs.axis = node.axisAttribute("axis", 1, inputs[0]->rank());
  node.setOutput(inputs.size() == 1 ? inputs[0] : node.add(&ops::Concat, inputs, attrs));
}

}  // namespace camshaft::onnx::importer
