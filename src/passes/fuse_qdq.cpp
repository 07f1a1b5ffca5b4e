// QDQ: products of dequantised bytes become products of the bytes, scaled afterwards. Sums of
// integers are exact, so this loses nothing; where backends have no such products, nothing happens.
//
//   %a = Pointwise(%qa, %sa, %za) {mul(sub(cast(x0), cast(x2)), x1)}
//   %b = Pointwise(%qb, %sb, %zb) {...}
//   %y = MatMul(%a, %b)
//
// becomes, where qb is a constant with one sb and zb per column at most, or y is quantised again,
//
//   %i = MatMulInteger(%qa, %qb, %za, %zb)
//   %y = Pointwise(%i, %sa, %sb) {mul(cast(x0), mul(x1, x2))}
//
// Of floats of 8 bits, f8e4m3 or f8e5m2, it is a MatMul of these, whose result is f32.
//
// A Conv becomes a ConvInteger with channels last between transposes, which later passes move. So
// does an average over windows, whose filters are ones, and one over whole images is a product
// with ones: sums of bytes are exact.
#include <algorithm>
#include <numeric>
#include <optional>

#include "ir/rewrite.h"
#include "ops/gemm.h"
#include "ops/gemm_int8.h"
#include "ops/move.h"
#include "ops/pointwise.h"
#include "ops/pool.h"
#include "ops/reduce.h"
#include "passes/edit.h"
#include "passes/passes.h"
#include "passes/permutation.h"
#include "passes/quantisation.h"

namespace camshaft {

namespace {

// Scale and zero point of both operands, when they can be taken out of the product.
bool canLeave(const Dequantized& a, const Dequantized& b, int64_t axis) {
  const int64_t rank = b.values->rank();
  return isKnown(b.values) && isOneNumber(*a.scale) && (!a.zero || isOneNumber(*a.zero)) &&
         liesAlong(*b.scale, axis, rank) && (!b.zero || liesAlong(*b.zero, axis, rank));
}

bool isKnownNumber(const Value* value) { return value->isConstant() && isOneNumber(*value); }

// The same for two activations.
bool canLeaveBoth(const Dequantized& a, const Dequantized& b) {
  return isOneNumber(*a.scale) && isOneNumber(*b.scale) && (!a.zero || isOneNumber(*a.zero)) &&
         (!b.zero || isKnownNumber(b.zero));
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
  // f32(sums) * (aScale * bScale) + bias, as numbers of the type of the node that this replaces.
  // The product of scales is a constant in most models.
  Value* scaled(Value* sums, Value* aScale, Value* bScale, Value* bias) const {
    Expr both;
    const auto asF32 = [](Expr& expr, int i, const Value* input) {
      const int at = expr.input(i, input->dataType());
      return input->dataType() == DataType::kF32 ? at : expr.cast(at, DataType::kF32);
    };
    both.apply(ScalarOp::kMul, asF32(both, 0, aScale), asF32(both, 1, bScale));
    Value* scale = addPointwise(graph, before->name, {aScale, bScale}, std::move(both), before);
    Expr expr;
    std::vector<Value*> inputs{sums, scale};
    const int sum = asF32(expr, 0, sums);
    int value = expr.apply(ScalarOp::kMul, sum, expr.input(1, DataType::kF32));
    if (bias) {
      inputs.push_back(bias);
      value = expr.apply(ScalarOp::kAdd, value, asF32(expr, 2, bias));
    }
    const DataType type = before->output()->dataType();
    if (type != DataType::kF32) expr.cast(value, type);
    return addPointwise(graph, before->name, std::move(inputs), std::move(expr), before);
  }
};

// Real numbers that follow, as softmax does, are better off with a product of theirs.
bool isQuantised(const Graph& graph, const Value* value) {
  const Node* reader = soleUser(graph, value);
  return reader && reader->op == &ops::Pointwise && quantized(reader->output());
}

bool rewriteBatchedMatMul(Graph& graph, Node* node, const Dequantized& a, const Dequantized& b) {
  const bool transposes = node->as<MatMulAttrs>().transposeB;
  const int64_t rank = b.values->rank();
  if (!canLeaveBoth(a, b) || a.values->rank() < 2 || rank < 2 ||
      !isQuantised(graph, node->output()))
    return false;
  const Shape& shape = a.values->shape();
  if (!areMatrixByMatrix(shape, b.values->shape()) ||
      rangeOf(shape.back(), graph.symbolRange()).max > kMaxTerms)
    return false;
  const Builder at{graph, node};
  std::vector<int64_t> order(rank);
  std::iota(order.begin(), order.end(), 0);
  std::swap(order[rank - 2], order[rank - 1]);
  Value* second = transposes ? at.transpose(b.values, order) : b.values;
  Node* product = graph.add(&ops::MatMulInteger, node->name, {a.values, second, a.zero, b.zero},
                            NoAttrs{}, node);
  replaceValue(
      graph, node->output(),
      at.scaled(product->output(), at.alongLast(a.scale, 1), at.alongLast(b.scale, 1), nullptr));
  return true;
}

// Of floats of 8 bits, which have no zero points. Kernels read them along K in vectors.
bool rewriteFloat8MatMul(Graph& graph, Node* node, const Dequantized& a, const Dequantized& b) {
  constexpr int64_t kVector = 16;
  const MatMulAttrs attrs = node->as<MatMulAttrs>();
  const Shape& weights = b.values->shape();
  const Dim depth = weights.size() == 2 ? weights[attrs.transposeB ? 1 : 0] : Dim(0);
  if (a.zero || b.zero || !canLeave(a, b, weightAxis(*node)) || !depth.isConstant() ||
      depth.value() == 0 || depth.value() % kVector != 0)
    return false;
  const Builder at{graph, node};
  Node* product = graph.add(&ops::MatMul, node->name, {a.values, b.values}, attrs, node);
  Value* weightScale = at.alongLast(b.scale, weights[weightAxis(*node)]);
  Value* scale = at.alongLast(a.scale, 1);
  replaceValue(graph, node->output(), at.scaled(product->output(), scale, weightScale, nullptr));
  return true;
}

bool rewriteMatMul(Graph& graph, Node* node, const FusionAbilities& fusion) {
  const auto& attrs = node->as<MatMulAttrs>();
  const auto a = dequantizedInAnyType(node->input(0)), b = dequantizedInAnyType(node->input(1));
  if (!a || !b || attrs.transposeA) return false;
  const DataType typeA = a->values->dataType(), typeB = b->values->dataType();
  if (isFloat8(typeA) != isFloat8(typeB) || !hasProductsOf(typeA, fusion)) return false;
  if (isFloat8(typeA)) return rewriteFloat8MatMul(graph, node, *a, *b);
  if (!isKnown(b->values))
    return fusion.activationProducts && rewriteBatchedMatMul(graph, node, *a, *b);
  if (!hasIntegerProduct(*node) || !canLeave(*a, *b, weightAxis(*node))) return false;
  const Dim columns = b->values->shape()[weightAxis(*node)];
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
  const auto x = dequantizedInAnyType(node->input(0)), w = dequantizedInAnyType(node->input(1));
  if (!x || !w || !isByte(x->values) || !isByte(w->values) || !hasIntegerProduct(*node) ||
      !canLeave(*x, *w, weightAxis(*node)))
    return false;
  ConvAttrs attrs = node->as<ConvAttrs>();
  const Shape& weights = w->values->shape();
  const Permutation last = channelsLastOrder(x->values->rank());
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

// Bytes with one scale and zero point, as [N, C, spatial...] of known C.
std::optional<Dequantized> dequantizedImage(const Value* value) {
  const auto x = dequantized(value);
  if (!x || !isByte(x->values) || !isOneNumber(*x->scale) || (x->zero && !isOneNumber(*x->zero)))
    return std::nullopt;
  const Shape& shape = x->values->shape();
  const bool isImage = shape.size() == 3 || shape.size() == 4;
  return isImage && shape[1].isConstant() ? x : std::nullopt;
}

Value* addNumber(Graph& graph, const Node* node, double number) {
  return addScalar(graph, node->name, DataType::kF32, number);
}

// Where all windows have as many elements.
bool rewriteAveragePool(Graph& graph, Node* node) {
  const auto& pool = node->as<PoolAttrs>();
  const auto x = dequantizedImage(node->input(0));
  if (!x || pool.kind != PoolKind::kAverage || pool.channelsLast || pool.ceilMode) return false;
  const auto isPadded = [](const std::vector<int64_t>& pads) {
    return std::any_of(pads.begin(), pads.end(), [](int64_t pad) { return pad != 0; });
  };
  if (!pool.countIncludePad && (isPadded(pool.padsBegin) || isPadded(pool.padsEnd))) return false;
  const int64_t channels = x->values->shape()[1].value();
  std::vector<int64_t> filters{channels, 1};
  filters.insert(filters.end(), pool.kernel.begin(), pool.kernel.end());
  if (!hasFilterPerChannel(Shape(filters.begin(), filters.end()), channels)) return false;
  const int64_t taps = countOf(pool.kernel);
  ConvAttrs attrs;
  attrs.strides = pool.strides;
  attrs.dilations = pool.dilations;
  attrs.padsBegin = pool.padsBegin;
  attrs.padsEnd = pool.padsEnd;
  attrs.groups = channels;
  attrs.channelsLast = true;
  const Builder at{graph, node};
  const Permutation last = channelsLastOrder(x->values->rank());
  Value* ones = graph.addConstant<int8_t>(node->name, DataType::kI8, filters,
                                          std::vector<int8_t>(channels * taps, 1));
  Node* sums =
      graph.add(&ops::ConvInteger, node->name,
                {at.transpose(x->values, last), ones, x->zero, nullptr}, std::move(attrs), node);
  Value* y = at.scaled(sums->output(), at.alongLast(x->scale, 1),
                       addNumber(graph, node, 1.0 / static_cast<double>(taps)), nullptr);
  replaceValue(graph, node->output(), at.transpose(y, inverseOf(last)));
  return true;
}

// Of all pixels of each channel. Of three dimensions it is the mean of a row as a rule, as norms
// take it, which would have to be transposed.
bool rewriteMean(Graph& graph, Node* node) {
  const auto& reduce = node->as<ReduceAttrs>();
  const auto x = dequantizedImage(node->input(0));
  if (!x || x->values->rank() != 4 || reduce.kind != ReduceKind::kMean ||
      (x->zero && !isKnownNumber(x->zero)))
    return false;
  const Shape& shape = x->values->shape();
  const Dim pixels = numElements(Shape(shape.begin() + 2, shape.end()));
  if (reduce.axes.size() != shape.size() - 2 || reduce.axes.front() != 2 || !hasFewTerms(pixels) ||
      pixels.value() == 0)
    return false;
  const Builder at{graph, node};
  const Permutation last = channelsLastOrder(x->values->rank());
  const Shape result = node->output()->shape();
  Value* ones = graph.addConstant<uint8_t>(node->name, DataType::kU8, {1, pixels.value()},
                                           std::vector<uint8_t>(pixels.value(), 1));
  Value* rows = at.reshape(at.transpose(x->values, last), {shape[0], pixels, shape[1]});
  Node* sums =
      graph.add(&ops::MatMulInteger, node->name, {ones, rows, nullptr, x->zero}, NoAttrs{}, node);
  Value* y = at.scaled(sums->output(), at.alongLast(x->scale, 1),
                       addNumber(graph, node, 1.0 / static_cast<double>(pixels.value())), nullptr);
  if (reduce.keepDims) {
    Shape pixel = {shape[0]};
    pixel.insert(pixel.end(), shape.size() - 2, 1);
    pixel.push_back(shape[1]);
    y = at.transpose(at.reshape(y, pixel), inverseOf(last));
  } else {
    y = at.reshape(y, result);
  }
  replaceValue(graph, node->output(), y);
  return true;
}

}  // namespace

bool fuseQdq(Graph& graph, const PassOptions& options) {
  const FusionAbilities& fusion = options.fusion;
  bool changed = false;
  for (Node* node : graph.nodeList()) {
    if (node->epilogue) continue;
    if (node->op == &ops::MatMul)
      changed |= rewriteMatMul(graph, node, fusion);  // which may end the node
    else if (!fusion.integerProducts)
      continue;
    else if (node->op == &ops::Conv)
      changed |= rewriteConv(graph, node);
    else if (node->op == &ops::Pool)
      changed |= rewriteAveragePool(graph, node);
    else if (node->op == &ops::Reduce)
      changed |= rewriteMean(graph, node);
  }
  return changed;
}

}  // namespace camshaft
