// Binary operators with a twist: Mod, Pow, BitShift.
#include "onnx/ops/elementwise.h"

namespace camshaft::onnx::importer {

void importMod(NodeImport& node) {
  importBinary(node, node.flag("fmod") ? ScalarOp::kFmod : ScalarOp::kMod);
}

void importBitShift(NodeImport& node) {
  const bool left = node.choice("direction", "", {"left", "right"}) == 0;
  importBinary(node, left ? ScalarOp::kShiftLeft : ScalarOp::kShiftRight);
}

// The result has the base's type; an integer raised to a float is computed as a float.
void importPow(NodeImport& node) {
  Value* base = node.input(0);
  Value* exponent = broadcastOperand(node, base, node.input(1));
  const DataType type = base->dataType();
  if (isInteger(type) && isFloat(exponent->dataType()))
    base = node.cast(base, exponent->dataType());
  else
    exponent = node.cast(exponent, type);
  node.setOutput(node.cast(node.binary(ScalarOp::kPow, base, exponent), type));
}

}  // namespace camshaft::onnx::importer
