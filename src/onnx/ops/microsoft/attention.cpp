// Attention, MultiHeadAttention and QAttention of com.microsoft.
#include "onnx/ops/microsoft/attention.h"

#include <cmath>

#include "onnx/formula.h"
#include "onnx/ops/gemm.h"
#include "onnx/ops/quantize.h"
#include "onnx/ops/range.h"
#include "onnx/size_rules.h"

namespace camshaft::onnx::importer {

namespace {

const Ranks kMaskRanks{1, 4};  // of a mask that says which keys may be seen

// Flags of keys from lengths, or from ends followed by starts, one per sample. Where sizes are
// known at run time only, they are lengths.
Value* keysWithin(const NodeImport& node, Value* bounds, const Dim& batch, const Dim& keys) {
  Value* positions = counting(node, bounds->dataType(), keys);
  const Dim& count = bounds->shape()[0];
  const auto compare = [&](ScalarOp op, const Dim& first, const Dim& size) {
    Value* bound = node.reshape(node.slice(bounds, 0, first, size), {size, 1, 1, 1});
    return node.binary(op, positions, bound);
  };
  if (count == batch * 2)
    return node.binary(ScalarOp::kAnd, compare(ScalarOp::kLess, 0, batch),
                       compare(ScalarOp::kGreaterEqual, batch, batch));
  if (count == batch * 3 + 2 || (count.isConstant() && batch.isConstant() && count != batch))
    node.unsupported("a mask of ", count, " numbers for a batch of ", batch,
                     " is not supported: pass a mask of [batch, keys]");
  requireSize(node, count, "lengths in its mask", batch);
  return compare(ScalarOp::kLess, 0, count);
}

Value* allowedKeys(const NodeImport& node, Value* mask, const Value* q, const Value* k) {
  const Dim batch = q->shape()[0], queries = q->shape()[2], keys = k->shape()[2];
  if (mask->rank() == 1) return keysWithin(node, mask, batch, keys);
  const Shape in = mask->shape();
  requireSize(node, in[0], "masks", batch);
  if (mask->rank() < 4) requireSize(node, in.back(), "keys in its mask", keys);
  if (mask->rank() == 3) requireSize(node, in[1], "queries in its mask", queries);
  if (mask->rank() == 2) mask = node.reshape(mask, {in[0], 1, 1, in[1]});
  if (mask->rank() == 3) mask = node.reshape(mask, {in[0], 1, in[1], in[2]});
  if (in.size() == 4)  // of all positions: the rows of these queries, the columns of these keys
    mask = node.slice(node.slice(mask, 2, keys - queries, queries), 3, 0, keys);
  return node.binary(ScalarOp::kGreater, mask, 0.0);
}

}  // namespace

Value* keyMask(const NodeImport& node, Value* mask, double hidden, const Value* q, const Value* k) {
  Value* allowed = allowedKeys(node, mask, q, k);
  Formula formula;
  const Term condition = formula.input(0, DataType::kBool);
  const Term result = where(condition, formula.number(0, q->dataType()), hidden);
  return node.pointwise({allowed}, formula.take(result));
}

Value* attend(const NodeImport& node, Value* q, Value* k, Value* v, Value* mask,
              AttentionAttrs attrs) {
  attrs.scale = scoreScale(node, node.number("scale", 0), q->shape()[3], q);
  attrs.alignEnd = true;
  std::vector<Value*> inputs{q, k, v};
  if (mask) inputs.push_back(mask);
  return mergeHeads(node, node.add(&ops::Attention, std::move(inputs), attrs));
}

namespace {

// What is added to the scores may be the same for all batches and heads, but not for queries and
// keys.
void requireBias(const NodeImport& node, const Value* bias, const Value* q, const Value* k) {
  const Shape scores{q->shape()[0], q->shape()[1], q->shape()[2], k->shape()[2]};
  requireBroadcastsTo(node, bias, "attention bias", scores);
  requireSize(node, bias->shape()[bias->rank() - 2], "queries in its attention bias", scores[2]);
  requireSize(node, bias->shape().back(), "keys in its attention bias", scores[3]);
}

// The attention that remains once queries, keys and values are there, whose masks are given.
Value* attendMasked(const NodeImport& node, Value* q, Value* k, Value* v, Value* keysSeen,
                    Value* bias) {
  AttentionAttrs attrs;
  attrs.causal = node.flag("unidirectional");
  Value* mask = bias;
  if (bias) requireBias(node, bias, q, k);
  if (keysSeen) {
    mask = keyMask(node, keysSeen, node.number("mask_filter_value", -10000), q, k);
    if (bias) mask = node.binary(ScalarOp::kAdd, mask, bias);
  }
  return attend(node, q, k, v, mask, attrs);
}

struct Inputs {
  Value *mask, *past, *bias;
};

// From the projections of queries, keys and values side by side, [batch, length, width].
void importProjected(NodeImport& node, Value* projected, const Inputs& inputs) {
  if (node.flag("do_rotary"))
    node.unsupported("rotary embedding inside it is not supported: export it as its own node");
  if (node.flag("past_present_share_buffer"))
    node.unsupported("a shared buffer of past and present is not supported: export it without");
  const int64_t heads = node.integer("num_heads");
  const Dim third = floorDiv(projected->shape()[2], 3);
  const std::vector<int64_t> given = node.integers("qkv_hidden_sizes");
  if (!given.empty() && given.size() != 3) node.invalid("its qkv_hidden_sizes must be three");
  const auto width = [&](int i) { return given.empty() ? third : Dim(given[i]); };
  requireSize(node, projected->shape()[2], "columns for queries, keys and values",
              width(0) + width(1) + width(2));
  Value* q = splitHeads(node, node.slice(projected, 2, 0, width(0)), heads);
  Value* k = splitHeads(node, node.slice(projected, 2, width(0), width(1)), heads);
  Value* v = splitHeads(node, node.slice(projected, 2, width(0) + width(1), width(2)), heads);
  const auto stacked = [&](Value* x) {
    Shape shape = x->shape();
    shape.insert(shape.begin(), Dim(1));
    return node.reshape(x, std::move(shape));
  };
  if (inputs.past) {
    requireSize(node, inputs.past->shape()[0], "parts in its past", 2);
    const auto part = [&](int64_t i) {
      const Shape& in = inputs.past->shape();
      return node.reshape(node.slice(inputs.past, 0, i, 1), {in.begin() + 1, in.end()});
    };
    k = node.concat({part(0), k}, 2);
    v = node.concat({part(1), v}, 2);
  }
  node.setOutput(0, attendMasked(node, q, k, v, inputs.mask, inputs.bias));
  if (node.wants(1)) node.setOutput(1, node.concat({stacked(k), stacked(v)}, 0));
}

}  // namespace

void importMicrosoftAttention(NodeImport& node) {
  Value* projected = multiply(node, node.input(0, 3), node.input(1, 2));
  if (Value* bias = node.optionalInput(2)) {
    requireShape(node, bias, "bias", {projected->shape()[2]});
    projected = node.binary(ScalarOp::kAdd, projected, bias);
  }
  importProjected(
      node, projected,
      {node.optionalInput(3, kMaskRanks), node.optionalInput(4, 5), node.optionalInput(5, {2, 4})});
}

void importQAttention(NodeImport& node) {
  Value* x = dequantize(node, node.input(0, 3), node.input(3), node.optionalInput(6));
  Value* weights = dequantize(node, node.input(1, 2), node.input(4), node.optionalInput(7));
  Value* projected = multiply(node, x, weights);
  requireShape(node, node.input(2), "bias", {projected->shape()[2]});
  projected = node.binary(ScalarOp::kAdd, projected, node.input(2));
  importProjected(node, projected,
                  {node.optionalInput(5, kMaskRanks), node.optionalInput(8, 5), nullptr});
}

namespace {

// One of several operands packed as [batch, length, heads, operands, size], as heads.
Value* unpackHeads(const NodeImport& node, Value* packed, int64_t operand, int64_t operands) {
  const Shape in = packed->shape();
  requireSize(node, in[3], "operands packed together", operands);
  Value* one = node.reshape(node.slice(packed, 3, operand, 1), {in[0], in[1], in[2], in[4]});
  return node.transpose(one, {0, 2, 1, 3});
}

}  // namespace

// Keys and values may be packed with the queries or with each other, or be heads already, as those
// of an encoder are; the bias holds parts for queries, keys and values.
void importMultiHeadAttention(NodeImport& node) {
  if (node.hasInput(8) || node.hasInput(9))
    node.unsupported("a shared buffer of past and present is not supported: export it without");
  if (node.wants(3)) node.unsupported("its output of scores is not supported");
  const int64_t heads = node.integer("num_heads");
  Value *query = node.input(0, {3, 5}), *bias = node.optionalInput(3, 1);
  Dim biased = 0;  // columns of the bias that were used, or passed over: heads have none
  const auto project = [&](Value* x) {
    const bool areHeads = x->rank() == 4;
    const Dim width = areHeads ? x->shape()[1] * x->shape()[3] : x->shape()[2];
    if (bias && !areHeads) x = node.binary(ScalarOp::kAdd, x, node.slice(bias, 0, biased, width));
    biased = biased + width;
    return areHeads ? x : splitHeads(node, x, heads);
  };
  Value *q, *k, *v;
  const bool packed = query->rank() == 5;
  if (packed || (node.hasInput(1) && node.input(1, {3, 5})->rank() == 5)) {
    if (bias) node.unsupported("a bias with packed operands is not supported");
    Value* pair = packed ? query : node.input(1);
    const int64_t operands = packed ? 3 : 2;
    q = packed ? unpackHeads(node, query, 0, operands) : project(query);
    k = unpackHeads(node, pair, packed ? 1 : 0, operands);
    v = unpackHeads(node, pair, packed ? 2 : 1, operands);
  } else {
    q = project(query);
    k = project(node.input(1, {3, 4}));
    v = project(node.input(2, {3, 4}));
    requireShape(node, bias, "bias", {biased});
  }
  if (node.hasInput(6)) k = node.append(node.input(6, 4), k, 2);
  if (node.hasInput(7)) v = node.append(node.input(7, 4), v, 2);
  node.setOutput(0, attendMasked(node, q, k, v, node.optionalInput(4, kMaskRanks),
                                 node.optionalInput(5, {2, 4})));
  node.setOutput(1, k);
  node.setOutput(2, v);
}

}  // namespace camshaft::onnx::importer
