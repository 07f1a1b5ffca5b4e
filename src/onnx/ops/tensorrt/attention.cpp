// Attention of BERT and DeBERTa.
#include "onnx/ops/attention.h"

#include <cmath>

#include "onnx/formula.h"
#include "onnx/ops/range.h"
#include "onnx/ops/tensorrt/fields.h"
#include "onnx/size.h"
#include "onnx/size_rules.h"
#include "ops/index.h"

namespace camshaft::onnx::importer {

namespace {

// Which relative position stands for the distance a - b of two words, [length, length]: near ones
// have one each, far ones share one, wider the farther they are.
Value* relativePositions(const NodeImport& node, const Dim& length, int64_t span,
                         Value* positions) {
  const auto middle = static_cast<double>(span / 2);
  Formula formula;
  const Term a = formula.input(0, DataType::kF32), b = formula.input(1, DataType::kF32);
  const Term distance = a - b, size = apply(ScalarOp::kAbs, distance);
  const Term last = cast(formula.input(2, DataType::kI64) - 1, DataType::kF32);
  const Term step = (middle - 1) / (apply(ScalarOp::kLog, last) - std::log(middle)) * (1 - 1e-7);
  const Term bucket =
      apply(ScalarOp::kCeil, (apply(ScalarOp::kLog, larger(size, 1)) - std::log(middle)) * step) +
      middle;
  const Term far = where(distance < 0, bucket * -1.0, bucket);
  const Term position = where(size > middle, far, distance) + static_cast<double>(span);
  const Term inside = larger(smaller(position, static_cast<double>(2 * span - 1)), 0);
  Value* words = counting(node, DataType::kF32, length);
  return node.pointwise({node.reshape(words, {length, 1}), words, positions},
                        formula.take(cast(inside, DataType::kI64)));
}

Value* gatherAlong(const NodeImport& node, Value* x, Value* indices) {
  GatherElementsAttrs attrs;
  attrs.axis = 2;
  const Shape& shape = indices->shape();
  return node.add(&ops::GatherElements,
                  {x, node.expand(indices, {x->shape()[0], shape[0], shape[1]})}, attrs);
}

}  // namespace

// (c2c[j, k] + c2p[j, r(j - k)] + p2c[k, r(j - k)]) * factor
void importDisentangledAttention(NodeImport& node) {
  Value *content = node.input(0, 3), *c2p = node.input(1, 3), *p2c = node.input(2, 3);
  const int64_t span = integerIn(node, "span", 0);
  if (span < 4) node.invalid("its span must be 4 at least and is ", span);
  requireSize(node, c2p->shape()[2], "relative positions", 2 * span);
  requireShape(node, p2c, "position-to-content matrix", c2p->shape());
  const Dim& length = content->shape()[1];
  Value* positions = relativePositions(node, length, span, sizeTensor(node, c2p->shape()[2]));
  Value* fromContent = gatherAlong(node, c2p, positions);
  Value* fromPosition = gatherAlong(node, p2c, node.transpose(positions, {1, 0}));
  Value* sum = node.binary(ScalarOp::kAdd, node.binary(ScalarOp::kAdd, content, fromContent),
                           node.transpose(fromPosition, {0, 2, 1}));
  node.setOutput(node.binary(ScalarOp::kMul, sum, numberIn(node, "factor", 1)));
}

// [S, B, 3 * E, 1, 1], each head's query, key and value side by side, to [S, B, E, 1, 1]. The mask
// has the number of words of each sequence.
void importQkvToContext(NodeImport& node) {
  Value* x = node.input(0, 5);
  if (flagIn(node, "var_seqlen") || node.inputCount() > 2)
    node.unsupported("sequences one after the other (var_seqlen) are not supported");
  const int64_t heads = positiveIn(node, "num_heads", 12);
  const int64_t width = positiveIn(node, "hidden_size", 768);
  const Shape& shape = x->shape();
  requireSize(node, shape[2], "columns", 3 * width);
  if (width % heads != 0)
    node.invalid("its hidden_size ", width, " does not go into ", heads, " heads");
  const int64_t size = width / heads;
  Value* split = node.reshape(x, {shape[0], shape[1], heads, 3, size});
  split = node.transpose(split, {3, 1, 2, 0, 4});
  const auto part = [&](int64_t i) {
    return node.reshape(node.slice(split, 0, i, 1), {shape[1], heads, shape[0], size});
  };
  std::vector<Value*> inputs{part(0), part(1), part(2)};
  if (Value* counts = node.optionalInput(1)) {
    requireSize(node, numElements(counts->shape()), "counts of words", shape[1]);
    counts = node.cast(node.reshape(counts, {shape[1], 1, 1, 1}), DataType::kI64);
    inputs.push_back(
        node.binary(ScalarOp::kLess, counting(node, DataType::kI64, shape[0]), counts));
  }
  AttentionAttrs attrs;
  attrs.scale = 1 / std::sqrt(static_cast<double>(size));
  Value* y = node.transpose(node.add(&ops::Attention, std::move(inputs), attrs), {2, 0, 1, 3});
  node.setOutput(node.reshape(y, {shape[0], shape[1], width, 1, 1}));
}

}  // namespace camshaft::onnx::importer
