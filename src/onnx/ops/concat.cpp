#include "onnx/node_import.h"

namespace camshaft::onnx::importer {

void importConcat(NodeImport& node) {
  const std::vector<Value*> inputs = node.allInputs();
  if (inputs.empty()) node.invalid("it has no inputs");
  if (node.opset() >= 4) node.integer("axis");  // required since
  const int64_t axis = node.axisAttribute("axis", 1, inputs[0]->rank());
  node.setOutput(inputs.size() == 1   ? inputs[0]
                 : inputs.size() == 2 ? node.append(inputs[0], inputs[1], axis)
                                      : node.concat(inputs, axis));
}

}  // namespace camshaft::onnx::importer
