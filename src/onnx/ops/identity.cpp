// Operators that hand their input through when not training.
#include "onnx/node_import.h"

namespace camshaft::onnx::importer {

void importIdentity(NodeImport& node) { node.setOutput(node.input(0)); }

void importDropout(NodeImport& node) {
  Value* x = node.input(0);
  if (node.opset() >= 12 && node.hasInput(2)) {
    const auto training = node.knownIntegers(node.input(2));
    const auto ratio =
        node.hasInput(1) ? node.knownNumbers(node.input(1)) : std::vector<double>{0.5};
    if (!training || (training->at(0) != 0 && (!ratio || ratio->at(0) != 0)))
      node.unsupported("training mode draws random numbers: export the model for inference");
  }
  node.setOutput(0, x);
  if (!node.wants(1)) return;
  const DataType maskType = node.opset() >= 10 ? DataType::kBool : x->dataType();
  node.setOutput(1, node.expand(node.scalar(maskType, 1), x->shape()));
}

}  // namespace camshaft::onnx::importer
