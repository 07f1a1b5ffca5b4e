// Binary operators with a twist: Div, Mod, Pow, BitShift.
#include <algorithm>

#include "onnx/input_sizes.h"
#include "onnx/ops/elementwise.h"

namespace camshaft::onnx::importer {

// Integers are rounded towards zero. Where they are sizes, (height - 1) / 8 say, that is down, and
// sizes computed from them stay known.
void importDiv(NodeImport& node) {
  const auto areSizes = [&](const Value* x) {
    return x->contents &&
           std::all_of(x->contents->begin(), x->contents->end(),
                       [&](const Dim& dim) { return node.inputSizes().isAtLeast(dim, 0); });
  };
  const bool roundsDown =
      isInteger(node.input(0)->dataType()) && areSizes(node.input(1)) && areSizes(node.input(0));
  importBinary(node, roundsDown ? ScalarOp::kFloorDiv : ScalarOp::kDiv);
}

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
