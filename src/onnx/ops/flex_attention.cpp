// FlexAttention: attention whose scores and probabilities pass through subgraphs, spelled out.
#include "onnx/ops/attention.h"
#include "ops/gemm.h"
#include "ops/rules.h"
#include "ops/softmax.h"

namespace camshaft::onnx::importer {

namespace {

// The value after the subgraph, where there is one.
Value* modified(const NodeImport& node, std::string_view subgraph, Value* x) {
  if (!node.has(subgraph)) return x;
  const std::vector<Item> results = node.importBranch(subgraph, {x});
  Value* result = results.size() == 1 ? tensorOf(results[0]) : nullptr;
  if (!result) node.invalid("its subgraph '", subgraph, "' must have one output");
  if (result->rank() != x->rank() || result->dataType() != x->dataType())
    node.invalid("its subgraph '", subgraph, "' turns ", x->type, " into ", result->type);
  return result;
}

}  // namespace

void importFlexAttention(NodeImport& node) {
  Value *q = node.input(0, 4), *k = node.input(1, 4), *v = node.input(2, 4);
  const Dim batch = q->shape()[0], heads = q->shape()[1], length = q->shape()[2];
  const Dim size = q->shape()[3], kvHeads = k->shape()[1], keys = k->shape()[2];
  if (kvHeads.isConstant(0) || !mayBeEqual(mod(heads, kvHeads), 0))
    node.invalid("its ", heads, " query heads must be a multiple of its ", kvHeads, " key heads");
  const double scale = node.has("scale") ? node.number("scale", 1) : scoreScale(node, 0, size, q);
  const bool wide = q->dataType() == DataType::kF64;
  const DataType precision =
      node.dataType("softmax_precision", wide ? DataType::kF64 : DataType::kF32);

  // Heads that share keys multiply as one group.
  const Dim shared = heads == kvHeads ? Dim(1) : floorDiv(heads, kvHeads);
  const bool grouped = !shared.isConstant(1);
  const auto group = [&](Value* x, const Dim& members) {
    const Shape& in = x->shape();
    return grouped ? node.reshape(x, {in[0], kvHeads, members, in[2], in[3]}) : x;
  };
  MatMulAttrs transposed;
  transposed.transposeB = true;
  Value* scores = node.add(&ops::MatMul, {group(q, shared), group(k, 1)}, transposed);
  scores = node.cast(node.binary(ScalarOp::kMul, scores, scale), precision);
  scores = modified(node, "score_mod", node.reshape(scores, {batch, heads, length, keys}));
  SoftmaxAttrs overKeys;
  overKeys.axis = 3;
  Value* weights = modified(node, "prob_mod", node.add(&ops::Softmax, {scores}, overKeys));
  Value* y = node.add(&ops::MatMul, {group(weights, shared), node.cast(group(v, 1), precision)},
                      MatMulAttrs{});
  node.setOutput(node.cast(node.reshape(y, {batch, heads, length, v->shape()[3]}), v->dataType()));
}

}  // namespace camshaft::onnx::importer
