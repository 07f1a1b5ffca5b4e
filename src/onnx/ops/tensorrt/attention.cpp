// Attention of BERT, DeBERTa and diffusion models.
#include "onnx/ops/attention.h"

#include <cmath>

#include "onnx/formula.h"
#include "onnx/ops/range.h"
#include "onnx/ops/tensorrt/fields.h"
#include "onnx/ops/tensorrt/packed_sequences.h"
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

namespace {

struct Heads {
  int64_t count, size;
};

Heads headsOf(const NodeImport& node, const Dim& columns) {
  const int64_t heads = positiveIn(node, "num_heads", 12);
  const int64_t width = positiveIn(node, "hidden_size", 768);
  requireSize(node, columns, "columns", 3 * width);
  if (width % heads != 0)
    node.invalid("its hidden_size ", width, " does not go into ", heads, " heads");
  return {heads, width / heads};
}

// Words [S, B, 3 * E], each head's query, key and value side by side, to [S, B, E]; the mask
// broadcasts to [B, heads, S, S].
Value* selfAttention(const NodeImport& node, Value* x, const Heads& heads, Value* mask) {
  const Shape shape = x->shape();
  Value* split = node.reshape(x, {shape[0], shape[1], heads.count, 3, heads.size});
  split = node.transpose(split, {3, 1, 2, 0, 4});
  const auto part = [&](int64_t i) {
    return node.reshape(node.slice(split, 0, i, 1), {shape[1], heads.count, shape[0], heads.size});
  };
  std::vector<Value*> inputs{part(0), part(1), part(2)};
  if (mask) inputs.push_back(mask);
  AttentionAttrs attrs;
  attrs.scale = 1 / std::sqrt(static_cast<double>(heads.size));
  Value* y = node.transpose(node.add(&ops::Attention, std::move(inputs), attrs), {2, 0, 1, 3});
  return node.reshape(y, {shape[0], shape[1], heads.count * heads.size});
}

// One sequence after the other, [words, 3 * E, 1, 1]: a word sees those of its own.
void importPackedAttention(NodeImport& node) {
  Value* x = node.input(0, 4);
  const Dim words = x->shape()[0];
  const Heads heads = headsOf(node, x->shape()[1]);
  Value* begin = beginOfSequences(node, node.input(2, 1), words);
  Value* mask = node.binary(ScalarOp::kEqual, node.reshape(begin, {1, 1, words, 1}),
                            node.reshape(begin, {1, 1, 1, words}));
  x = node.reshape(x, {words, 1, 3 * heads.count * heads.size});
  Value* y = selfAttention(node, x, heads, mask);
  node.setOutput(node.reshape(y, {words, heads.count * heads.size, 1, 1}));
}

}  // namespace

// [S, B, 3 * E, 1, 1] to [S, B, E, 1, 1]. The mask has the number of words of each sequence.
void importQkvToContext(NodeImport& node) {
  if (!isFloat(node.input(0)->dataType()) || node.has("use_explicit_int8"))
    node.unsupported(
        "version 3 and 6 of it, on interleaved 8-bit integers, are not there; use "
        "version 2 or 5 between DequantizeLinear and QuantizeLinear");
  if (flagIn(node, "var_seqlen") || node.inputCount() > 2) return importPackedAttention(node);
  Value* x = node.input(0, 5);
  const Shape shape = x->shape();
  const Heads heads = headsOf(node, shape[2]);
  Value* mask = nullptr;
  if (Value* counts = node.optionalInput(1)) {
    requireSize(node, numElements(counts->shape()), "counts of words", shape[1]);
    counts = node.cast(node.reshape(counts, {shape[1], 1, 1, 1}), DataType::kI64);
    mask = node.binary(ScalarOp::kLess, counting(node, DataType::kI64, shape[0]), counts);
  }
  const int64_t width = heads.count * heads.size;
  Value* y = selfAttention(node, node.reshape(x, {shape[0], shape[1], 3 * width}), heads, mask);
  node.setOutput(node.reshape(y, {shape[0], shape[1], width, 1, 1}));
}

namespace {

// Words [N, S, heads, size], in order of heads and back.
Value* headsFirst(const NodeImport& node, Value* x) { return node.transpose(x, {0, 2, 1, 3}); }

// One of the parts [N, S, heads, parts, size].
Value* partOfHeads(const NodeImport& node, Value* packed, int64_t i) {
  const Shape& shape = packed->shape();
  Value* part = node.slice(packed, 3, i, 1);
  return headsFirst(node, node.reshape(part, {shape[0], shape[1], shape[2], shape[4]}));
}

void setAttention(NodeImport& node, Value* query, Value* key, Value* value) {
  const Dim& size = query->shape()[3];
  if (!size.isConstant()) node.unsupported("the size of its heads must be known");
  AttentionAttrs attrs;
  attrs.scale = 1 / std::sqrt(static_cast<double>(size.value()));
  node.setOutput(headsFirst(node, node.add(&ops::Attention, {query, key, value}, attrs)));
}

}  // namespace

// Query, key and value [N, S, heads, 3, size] to [N, S, heads, size].
void importFlashAttention(NodeImport& node) {
  Value* packed = node.input(0, 5);
  requireSize(node, packed->shape()[3], "parts of a head", 3);
  setAttention(node, partOfHeads(node, packed, 0), partOfHeads(node, packed, 1),
               partOfHeads(node, packed, 2));
}

// Queries [N, S, heads, size], and keys and values [N, T, heads, 2, size] of other words.
void importFlashCrossAttention(NodeImport& node) {
  Value *query = node.input(0, 4), *packed = node.input(1, 5);
  requireSize(node, packed->shape()[3], "parts of a head", 2);
  setAttention(node, headsFirst(node, query), partOfHeads(node, packed, 0),
               partOfHeads(node, packed, 1));
}

}  // namespace camshaft::onnx::importer
