#include "ops/attention.h"

#include <cmath>

#include "onnx/node_import.h"
#include "ops/move.h"

namespace camshaft::onnx::importer {

namespace {

// [batch, length, heads * size] as [batch, heads, length, size].
Value* splitHeads(const NodeImport& node, Value* x, int64_t heads) {
  if (x->rank() == 4) return x;
  if (x->rank() != 3 || heads <= 0) node.invalid("its operands need rank 4, or rank 3 with q_num_heads and kv_num_heads");
  const Shape& in = x->shape();
  return node.transpose(node.reshape(x, {in[0], in[1], heads, floorDiv(in[2], heads)}), {0, 2, 1, 3});
}

Value* withPast(const NodeImport& node, Value* past, Value* present) {
  if (!past) return present;
  ConcatAttrs attrs;
  attrs.axis = 2;
  return node.add(&ops::Concat, {past, present}, attrs);
}

}  // namespace

void importAttention(NodeImport& node) {
  Value* q = splitHeads(node, node.input(0), node.integer("q_num_heads", 0));
  Value* k = splitHeads(node, node.input(1), node.integer("kv_num_heads", 0));
  Value* v = splitHeads(node, node.input(2), node.integer("kv_num_heads", 0));
  if (node.wants(3)) node.unsupported("its fourth output, the scores of the product, is not supported");
  if (node.hasInput(6)) node.unsupported("its input nonpad_kv_seqlen is not supported");
  k = withPast(node, node.optionalInput(4), k);
  v = withPast(node, node.optionalInput(5), v);
  const Dim size = q->shape()[3];
  if (!node.has("scale") && !size.isConstant()) node.unsupported("its head size must be known");

  AttentionAttrs attrs;
  attrs.scale = node.has("scale") ? node.number("scale", 1) : 1 / std::sqrt(static_cast<double>(size.value()));
  attrs.causal = node.flag("is_causal");
  attrs.alignEnd = node.hasInput(4);
  attrs.softcap = node.number("softcap", 0);
  std::vector<Value*> inputs{q, k, v};
  if (node.hasInput(3)) inputs.push_back(node.input(3));
  Value* y = node.add(&ops::Attention, std::move(inputs), attrs);
  if (node.input(0)->rank() == 3) {
    const Shape heads = y->shape();
    y = node.reshape(node.transpose(y, {0, 2, 1, 3}), {heads[0], heads[2], heads[1] * heads[3]});
  }
  node.setOutput(0, y);
  node.setOutput(1, k);
  node.setOutput(2, v);
}

}  // namespace camshaft::onnx::importer
