#include "onnx/ops/attention.h"

#include <cmath>
#include <limits>

#include "onnx/formula.h"
#include "onnx/ops/attention_mask.h"
#include "onnx/size.h"
#include "ops/gemm.h"
#include "ops/softmax.h"

namespace camshaft::onnx::importer {

Value* splitHeads(const NodeImport& node, Value* x, int64_t heads) {
  if (x->rank() == 4) return x;
  if (x->rank() != 3 || heads <= 0)
    node.invalid("its operands need rank 4, or rank 3 and the number of heads");
  const Shape& in = x->shape();
  return node.transpose(node.reshape(x, {in[0], in[1], heads, floorDiv(in[2], heads)}),
                        {0, 2, 1, 3});
}

Value* mergeHeads(const NodeImport& node, Value* x) {
  const Shape in = x->shape();
  return node.reshape(node.transpose(x, {0, 2, 1, 3}), {in[0], in[2], in[1] * in[3]});
}

double scoreScale(const NodeImport& node, double given, const Dim& size, Value*& q) {
  if (given != 0) return given;
  if (size.isConstant()) return 1 / std::sqrt(static_cast<double>(size.value()));
  Formula formula;
  const Term root = apply(ScalarOp::kSqrt, cast(formula.input(1, DataType::kI64), DataType::kF32));
  const Term scaled = formula.input(0, q->dataType()) / cast(root, q->dataType());
  q = node.pointwise({q, sizeTensor(node, size)}, formula.take(scaled));
  return 1;
}

namespace {

Value* withPast(const NodeImport& node, Value* past, Value* present) {
  return past ? node.append(past, present, 2) : present;
}

// k with each head repeated for the queries that share it.
Value* repeatHeads(const NodeImport& node, Value* k, const Dim& heads) {
  const Shape in = k->shape();
  if (in[1] == heads) return k;
  if (in[1].isConstant(0)) node.invalid("it has no key heads");
  Value* grouped = node.reshape(k, {in[0], in[1], 1, in[2], in[3]});
  return node.reshape(node.expand(grouped, {in[0], in[1], floorDiv(heads, in[1]), in[2], in[3]}),
                      {in[0], heads, in[2], in[3]});
}

// What the fourth output shows of the scores: 0 as multiplied, 1 capped, 2 with the mask, 3 as
// probabilities, where a row without any key is zero.
Value* scores(const NodeImport& node, Value* q, Value* k, Value* mask,
              const AttentionAttrs& attrs) {
  const int64_t mode = node.integer("qk_matmul_output_mode", 0);
  MatMulAttrs product;
  product.transposeB = true;
  Value* result = node.add(&ops::MatMul, {q, repeatHeads(node, k, q->shape()[1])}, product);
  result = node.binary(ScalarOp::kMul, result, attrs.scale);
  if (mode >= 1 && attrs.softcap != 0) {
    result = node.unary(ScalarOp::kTanh, node.binary(ScalarOp::kDiv, result, attrs.softcap));
    result = node.binary(ScalarOp::kMul, result, attrs.softcap);
  }
  if (mode >= 2 && mask)
    result = node.binary(ScalarOp::kAdd, result, additiveMask(node, mask, q->dataType()));
  if (mode < 3) return result;
  SoftmaxAttrs softmax;
  softmax.axis = 3;
  Value* weights = node.add(&ops::Softmax, {result}, softmax);
  Expr zeroed;  // a row without keys is 0/0
  const int weight = zeroed.input(0, weights->dataType());
  const int isNumber = zeroed.apply(ScalarOp::kEqual, weight, weight);
  const int zero = zeroed.constant(0, weights->dataType());
  zeroed.where(isNumber, weight, zero);
  return node.pointwise({weights}, std::move(zeroed));
}

}  // namespace

void importAttention(NodeImport& node) {
  Value* q = splitHeads(node, node.input(0), node.integer("q_num_heads", 0));
  Value* k = splitHeads(node, node.input(1), node.integer("kv_num_heads", 0));
  Value* v = splitHeads(node, node.input(2), node.integer("kv_num_heads", 0));
  // Queries and new keys are usually the same tokens; then the last query sees the last key.
  const bool pairwise = q->shape()[2] == k->shape()[2];
  k = withPast(node, node.optionalInput(4), k);
  v = withPast(node, node.optionalInput(5), v);

  AttentionAttrs attrs;
  attrs.scale = node.has("scale") ? node.number("scale", 1) : scoreScale(node, 0, q->shape()[3], q);
  attrs.softcap = node.number("softcap", 0);
  AttentionMask mask(node, q->shape()[2], k->shape()[2]);
  // The operator itself masks the future, unless the lengths differ by sample or are to be shown.
  const bool explicitCausal = node.hasInput(6) || node.wants(3) || (node.hasInput(4) && !pairwise);
  attrs.causal = node.flag("is_causal") && !explicitCausal;
  attrs.alignEnd = node.hasInput(4);
  if (node.flag("is_causal") && explicitCausal) mask.hideFuture();
  std::vector<Value*> inputs{q, k, v};
  if (Value* combined = mask.combined()) inputs.push_back(combined);
  Value* shown =
      node.wants(3) ? scores(node, q, k, inputs.size() > 3 ? inputs[3] : nullptr, attrs) : nullptr;
  Value* y = node.add(&ops::Attention, std::move(inputs), attrs);
  node.setOutput(0, node.input(0)->rank() == 3 ? mergeHeads(node, y) : y);
  node.setOutput(1, k);
  node.setOutput(2, v);
  if (shown) node.setOutput(3, shown);
}

}  // namespace camshaft::onnx::importer
