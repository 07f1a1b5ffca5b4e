// QDQ: products of dequantised bytes become products of the bytes, scaled afterwards. Sums of
// integers are exact, so this loses nothing; where backends have no such products, nothing happens.
//
//   %a = Pointwise(%qa, %sa, %za) {mul(sub(cast(x0), cast(x2)), x1)}
//   %b = Pointwise(%qb, %sb, %zb) {...}
//   %y = MatMul(%a, %b)
//
// becomes, where qb is a constant with one sb and zb per column at most,
//
//   %i = MatMulInteger(%qa, %qb, %za, %zb)
//   %y = Pointwise(%i, %sa, %sb) {mul(cast(x0), mul(x1, x2))}
//
// A Conv becomes a ConvInteger with channels last between transposes, which later passes move.
#include <algorithm>
#include <optional>

#include "ir/rewrite.h"
#include "ops/gemm.h"
#include "ops/gemm_int8.h"
#include "ops/move.h"
#include "ops/pointwise.h"
#include "passes/edit.h"
#include "passes/passes.h"
#include "passes/permutation.h"
#include "passes/quantisation.h"

namespace camshaft {

namespace {

// More terms could leave the range of 32 bits.
constexpr int64_t kMaxTerms = (int64_t{1} << 31) / (255 * 255);

// Scale and zero point of both operands, when they can be taken out of the product.
bool canLeave(const Dequantized& a, const Dequantized& b, int64_t axis) {
  const int64_t rank = b.values->rank();
  return b.values->isConstant() && isOneNumber(*a.scale) && (!a.zero || isOneNumber(*a.zero)) &&
         liesAlong(*b.scale, axis, rank) && (!b.zero || liesAlong(*b.zero, axis, rank));
}

// Adds nodes before one place, under one name.
struct Builder {
  Graph& graph;
  Node* before;

  Value* transpose(Value* x, std::vector<int64_t> order) const {
    TransposeAttrs attrs;
    attrs.order = std::move(order);
    return graph.add(&ops::Transpose, before->name, {x}, std::move(attrs), before)->output();
  }
  Value* reshape(Value* x, Shape shape) const {
    return addReshape(graph, before->name, x, std::move(shape), before);
  }
  // What lies along one dimension, along the last.
  Value* alongLast(Value* x, const Dim& size) const {
    return isOneNumber(*x) ? (x->rank() == 0 ? x : reshape(x, {})) : reshape(x, {size});
  }
  // cast(sums) * (aScale * bScale) + bias
  Value* scaled(Value* sums, Value* aScale, Value* bScale, Value* bias) const {
    Expr expr;
    std::vector<Value*> inputs{sums, aScale, bScale};
    const int value = expr.cast(expr.input(0, DataType::kI32), DataType::kF32);
    const int first = expr.input(1, DataType::kF32), second = expr.input(2, DataType::kF32);
    const int product =
        expr.apply(ScalarOp::kMul, value, expr.apply(ScalarOp::kMul, first, second));
    if (bias) {
      inputs.push_back(bias);
      expr.apply(ScalarOp::kAdd, product, expr.input(3, DataType::kF32));
    }
    return addPointwise(graph, before->name, std::move(inputs), std::move(expr), before);
  }
};

bool isKnownBelow(const Dim& terms, int64_t most) {
  return terms.isConstant() && terms.value() <= most;
}

bool rewriteMatMul(Graph& graph, Node* node) {
  const auto& attrs = node->as<MatMulAttrs>();
  const auto a = dequantized(node->input(0)), b = dequantized(node->input(1));
  if (!a || !b || attrs.transposeA || b->values->rank() != 2) return false;
  if (!canLeave(*a, *b, attrs.transposeB ? 0 : 1)) return false;
  const Shape& shape = b->values->shape();
  if (!isKnownBelow(shape[attrs.transposeB ? 1 : 0], kMaxTerms)) return false;
  const Dim columns = shape[attrs.transposeB ? 0 : 1];
  const Builder at{graph, node};
  Value* weights = attrs.transposeB ? at.transpose(b->values, {1, 0}) : b->values;
  Value* weightZero = b->zero ? at.alongLast(b->zero, columns) : nullptr;
  Node* product = graph.add(&ops::MatMulInteger, node->name,
                            {a->values, weights, a->zero, weightZero}, NoAttrs{}, node);
  Value* weightScale = at.alongLast(b->scale, columns);
  Value* scale = at.alongLast(a->scale, 1);
  replaceValue(graph, node->output(), at.scaled(product->output(), scale, weightScale, nullptr));
  return true;
}

bool rewriteConv(Graph& graph, Node* node) {
  const auto x = dequantized(node->input(0)), w = dequantized(node->input(1));
  if (!x || !w || !canLeave(*x, *w, 0)) return false;
  ConvAttrs attrs = node->as<ConvAttrs>();
  const Shape& weights = w->values->shape();
  const int64_t rank = x->values->rank();
  const bool isGrouped = attrs.groups != 1 && !hasFilterPerChannel(weights, attrs.groups);
  if (isGrouped || attrs.channelsLast || rank > 4) return false;
  if (!isKnownBelow(numElements(Shape(weights.begin() + 1, weights.end())), kMaxTerms))
    return false;
  const Permutation last = channelsLastOrder(rank);
  attrs.channelsLast = true;
  const Builder at{graph, node};
  Node* conv = graph.add(&ops::ConvInteger, node->name,
                         {at.transpose(x->values, last), w->values, x->zero, w->zero},
                         std::move(attrs), node);
  Value* weightScale = at.alongLast(w->scale, weights[0]);
  Value* scale = at.alongLast(x->scale, 1);
  Value* y = at.scaled(conv->output(), scale, weightScale, node->input(2));
  replaceValue(graph, node->output(), at.transpose(y, inverseOf(last)));
  return true;
}

}  // namespace

bool fuseQdq(Graph& graph, const PassOptions& options) {
  if (!options.fusion.integerProducts) return false;
  bool changed = false;
  for (Node* node : graph.nodeList()) {
    if (node->epilogue) continue;
    if (node->op == &ops::MatMul)
      changed |= rewriteMatMul(graph, node);  // which may end the node
    else if (node->op == &ops::Conv)
      changed |= rewriteConv(graph, node);
  }
  return changed;
}

}  // namespace camshaft
