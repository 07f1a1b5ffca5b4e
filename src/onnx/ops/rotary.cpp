// Rotary position embedding, as ONNX and com.microsoft write it.
#include "onnx/ops/rotary.h"

#include "onnx/ops/range.h"
#include "onnx/size_rules.h"
#include "ops/index.h"

namespace camshaft::onnx::importer {

Value* rotate(const NodeImport& node, Value* x, Value* cos, Value* sin, bool interleaved) {
  const Dim size = x->shape()[3], half = cos->shape().back(), rotated = half * 2;
  Value* real = node.slice(x, 3, 0, half, interleaved ? 2 : 1);
  Value* imaginary = interleaved ? node.slice(x, 3, 1, half, 2) : node.slice(x, 3, half, half);
  const auto mul = [&](Value* a, Value* b) { return node.binary(ScalarOp::kMul, a, b); };
  Value* newReal = node.binary(ScalarOp::kSub, mul(real, cos), mul(imaginary, sin));
  Value* newImaginary = node.binary(ScalarOp::kAdd, mul(real, sin), mul(imaginary, cos));
  Value* y;
  if (interleaved) {
    Shape column = newReal->shape();
    column.push_back(1);
    Shape whole = newReal->shape();
    whole.back() = rotated;
    y = node.reshape(
        node.concat({node.reshape(newReal, column), node.reshape(newImaginary, column)}, 4), whole);
  } else {
    y = node.concat({newReal, newImaginary}, 3);
  }
  return rotated == size ? y : node.concat({y, node.slice(x, 3, rotated, size - rotated)}, 3);
}

namespace {

// cos or sin as [batch, length, 1, half], of [positions, half] by position, or [batch, length,
// half].
Value* angles(const NodeImport& node, Value* cache, Value* positions) {
  if (positions) cache = node.add(&ops::Gather, {cache, positions}, GatherAttrs{});
  const Shape shape = cache->shape();
  return node.reshape(cache, {shape[0], shape[1], 1, shape[2]});
}

void importRotary(NodeImport& node, Value* cosCache, Value* sinCache, Value* positions) {
  Value* input = node.input(0, {3, 4});
  Value* x = input;  // [batch, length, heads, size]
  const int64_t declared = node.integer("rotary_embedding_dim", 0);
  int64_t heads = node.integer("num_heads", 0);
  if (x->rank() == 4) {
    x = node.transpose(x, {0, 2, 1, 3});
  } else {
    const Dim size = cosCache->shape().back() * 2;  // of a head that is rotated whole
    if (heads == 0 && declared == 0 && size.isConstant() && size.value() > 0 &&
        x->shape()[2].isConstant())
      heads = x->shape()[2].value() / size.value();
    if (heads <= 0) node.invalid("its input needs rank 4, or rank 3 with num_heads");
    x = node.reshape(x, {x->shape()[0], x->shape()[1], heads, floorDiv(x->shape()[2], heads)});
  }
  const Dim &batch = x->shape()[0], &length = x->shape()[1];
  const Dim turned = declared > 0 ? Dim(declared) : x->shape()[3];  // of a head: pairs of elements
  requireSize(node, cosCache->shape().back() * 2, "elements of a head to turn", turned);
  requireShape(node, sinCache, "sines", cosCache->shape());
  if (!positions) requireShape(node, cosCache, "cosines", {batch, length, cosCache->shape()[2]});
  Value* y = rotate(node, x, angles(node, cosCache, positions), angles(node, sinCache, positions),
                    node.flag("interleaved"));
  node.setOutput(input->rank() == 4 ? node.transpose(y, {0, 2, 1, 3})
                                    : node.reshape(y, input->shape()));
}

// [batch, length] of [batch, heads, length, size] or [batch, length, width].
Shape tokensOf(const Value* x) { return {x->shape()[0], x->shape()[x->rank() == 4 ? 2 : 1]}; }

}  // namespace

void importRotaryEmbedding(NodeImport& node) {
  Value* positions = node.optionalInput(3, 2);
  requireShape(node, positions, "positions", tokensOf(node.input(0, {3, 4})));
  const int64_t cacheRank = positions ? 2 : 3;
  importRotary(node, node.input(1, cacheRank), node.input(2, cacheRank), positions);
}

// Positions come first, and may be one number: that of the first token.
void importMicrosoftRotaryEmbedding(NodeImport& node) {
  if (node.flag("is_packed_batching"))
    node.unsupported("packed batches are not supported: export it without is_packed_batching");
  const Shape all = tokensOf(node.input(0, {3, 4}));
  Value* positions = node.input(1, {1, 2});
  requireShape(node, positions, "positions", positions->rank() == 1 ? Shape{1} : all);
  if (positions->rank() == 1) {
    const Dim& length = all[1];
    Value* tokens = node.reshape(counting(node, positions->dataType(), length), {1, length});
    positions = node.binary(ScalarOp::kAdd, tokens, positions);
  }
  importRotary(node, node.input(2, 2), node.input(3, 2), positions);
}

}  // namespace camshaft::onnx::importer
