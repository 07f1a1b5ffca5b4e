// Products of some hundred rows normalise those that they read, where the device has a kernel for
// it and what stores the rows is a product too, which finds their moments by the way
// (keep_moments).
//
//   %x = Pointwise(%p, ...)                           // %p of a MatMul
//   %n = LayerNorm(%x, %f, %b)                        // read by products and pointwise work
//   %y = MatMul(%n, %w)
//   %r = Pointwise(%n, ...)                           // a residual, maybe
//   →
//   %m = RowMoments(%x)
//   %y, %mean, %factor = NormMatMul(%x, %w, %m, %f, %b)
//   %r = Pointwise(%x, %mean, %factor, %f, %b, ...)   // (x - mean) factor f + b
#include <algorithm>
#include <cmath>

#include "ir/rewrite.h"
#include "ops/gemm.h"
#include "ops/norm.h"
#include "ops/ops.h"
#include "ops/pointwise.h"
#include "passes/bound_expr.h"
#include "passes/edit.h"
#include "passes/passes.h"
#include "passes/row_norm.h"

namespace camshaft {

// Of |x|. Bits of 16-bit numbers without their sign are in the order of what they stand for.
static double largestOf(const Value& value) {
  const ConstTensorView view = value.view();
  if (bitsOf(view.type) == 16) {
    uint16_t most = 0;
    for (uint16_t bits : std::span(static_cast<const uint16_t*>(view.data), view.count()))
      most = std::max<uint16_t>(most, bits & 0x7fff);
    return readElement(view.type, &most, 0);
  }
  double most = 0;
  for (int64_t i = 0; i < view.count(); ++i)
    most = std::max(most, std::fabs(readElement(view.type, view.data, i)));
  return most;
}

// Weights that take the norm's factors stay numbers of their type, and keep its digits.
static bool canScale(const Value& weights, const Value* factors) {
  constexpr double kLeast = 1e-2, kMost = 6e4;
  if (weights.isOpaque() || (factors && factors->isOpaque())) return false;
  const double most = largestOf(weights) * (factors ? largestOf(*factors) : 1);
  return most >= kLeast && most <= kMost;
}

namespace {

// A product of what a norm makes of rows, maybe as rows that are counted otherwise.
struct RowProduct {
  Node *node = nullptr, *reshape = nullptr;
  const Value* rows() const { return node->input(0); }
};

}  // namespace

static RowProduct rowProductOf(const Graph& graph, Node* reader, const RowNorm& norm) {
  if (reader->op == &ops::MatMul) return {.node = reader};
  if (reader->op != &ops::Reshape || reader->epilogue || reader->output()->shape().empty() ||
      reader->output()->shape().back() != norm.x->shape().back() ||
      !knowsSizesWith(graph, *reader, norm.x))
    return {};
  Node* product = soleUser(graph, reader->output());
  return product && product->op == &ops::MatMul && product->input(0) == reader->output()
             ? RowProduct{product, reader}
             : RowProduct{};
}

// Whether a product will store the value, when what is pointwise behind it rides on it.
static bool isOfProduct(const Graph& graph, const Value* value) {
  const auto isProduct = [&](const Value* made) {
    const Node* node = made->producer;
    return node && node->op == &ops::MatMul && made->type == value->type &&
           node->input(1)->isConstant() && node->input(1)->rank() == 2;
  };
  const Node* node = value->producer;
  if (isProduct(value)) return true;
  return isPlainPointwise(node) && std::ranges::any_of(node->inputs, [&](const Value* input) {
           return isProduct(input) && soleUser(graph, input) == node;
         });
}

static bool normalisesRows(const Graph& graph, const RowProduct& product, const RowNorm& norm,
                           int64_t mostRows) {
  constexpr int64_t kFewRows = 32, kUnit = 8;  // fewer are read by kernels of another kind
  if (!product.node || product.node->epilogue ||
      (!product.reshape && product.rows() != norm.result))
    return false;
  const Node& node = *product.node;
  const auto& attrs = node.as<MatMulAttrs>();
  const Value& weights = *node.input(1);
  const DataType type = norm.x->dataType();
  if (attrs.transposeA || !weights.isConstant() || weights.rank() != 2 ||
      weights.dataType() != type || (type != DataType::kF16 && type != DataType::kBF16))
    return false;
  const Shape& shape = norm.x->shape();
  const Dim& columns = weights.shape()[attrs.transposeB ? 0 : 1];
  if (!columns.isConstant() || columns.value() <= 0 || columns.value() % kUnit != 0) return false;
  const DimRange rows =
      rangeOf(numElements(Shape(shape.begin(), shape.end() - 1)), graph.symbolRange());
  return rows.min >= kFewRows && rows.max <= mostRows && canScale(weights, norm.factors);
}

// The product on rows as they are, in the place of the norm.
static Node* multiplyNormalised(Graph& graph, const RowProduct& rows, const RowNorm& norm,
                                Value* moments, Node* from, bool keepsMoments) {
  Node* product = rows.node;
  const auto& attrs = from->as<LayerNormAttrs>();
  NormMatMulAttrs fused;
  fused.transposeB = product->as<MatMulAttrs>().transposeB;
  fused.epsilon = attrs.epsilon;
  fused.rms = attrs.rms;
  fused.keepsMoments = keepsMoments;
  const Shape& shape = rows.rows()->shape();
  Value* x = addReshape(graph, norm.x->name, norm.x, shape, from);
  std::vector<Value*> inputs = {
      x, product->input(1), addReshape(graph, moments->name, moments, momentsShape(shape), from)};
  if (norm.factors || norm.shifts) inputs.push_back(norm.factors);
  if (norm.shifts) inputs.push_back(norm.shifts);
  Node* node =
      graph.add(&ops::NormMatMul, product->name, std::move(inputs), fused, from, fused.outputs());
  mergeOrigins(node, product);
  mergeOrigins(node, from);
  mergeOrigins(node, norm.result->producer);
  replaceValue(graph, product->output(), node->output());
  return node;
}

// What the norm made of x, by the moments that a product kept, for one who reads it.
static BoundExpr restored(Graph& graph, const RowNorm& norm, const Node& product, Node* reader) {
  const auto& attrs = product.as<NormMatMulAttrs>();
  Shape shape = norm.x->shape();
  shape.back() = 1;
  const auto moments = [&](int output) {
    Value* value = product.outputs[output];
    return addReshape(graph, value->name, value, shape, reader);
  };
  BoundExpr bound;
  const auto operand = [&](Value* value) {
    bound.inputs.push_back(value);
    const int input =
        bound.expr.input(static_cast<int>(bound.inputs.size()) - 1, value->dataType());
    return value->dataType() == DataType::kF32 ? input : bound.expr.cast(input, DataType::kF32);
  };
  int result = operand(norm.x);
  if (!attrs.rms)
    result = bound.expr.apply(ScalarOp::kSub, result, operand(moments(attrs.meanOutput())));
  result = bound.expr.apply(ScalarOp::kMul, result, operand(moments(attrs.factorOutput())));
  if (norm.factors) result = bound.expr.apply(ScalarOp::kMul, result, operand(norm.factors));
  if (norm.shifts) result = bound.expr.apply(ScalarOp::kAdd, result, operand(norm.shifts));
  bound.expr.cast(result, norm.result->dataType());
  return bound;
}

static bool fuseRowNorm(Graph& graph, Node* node, int64_t mostRows) {
  const RowNorm norm = rowNormOf(graph, *node);
  if (!norm.result || !hasMoments(norm.x->shape()) || !isOfProduct(graph, norm.x)) return false;
  std::vector<RowProduct> products;
  std::vector<Node*> others;
  for (Node* reader : norm.result->users) {
    const RowProduct product = rowProductOf(graph, reader, norm);
    if (normalisesRows(graph, product, norm, mostRows))
      products.push_back(product);
    else
      others.push_back(reader);
  }
  if (products.empty() || products.size() > kMostNormReaders ||
      !std::ranges::all_of(others, isPlainPointwise))
    return false;
  Node* moments = graph.add(&ops::RowMoments, node->name + ".moments", {norm.x}, NoAttrs(), node);
  mergeOrigins(moments, node);
  Node* last = nullptr;
  for (size_t i = 0; i < products.size(); ++i) {
    const bool keepsMoments = !others.empty() && i + 1 == products.size();
    last = multiplyNormalised(graph, products[i], norm, moments->output(), node, keepsMoments);
  }
  for (Node* reader : others) {
    const BoundExpr rows = restored(graph, norm, *last, reader);
    rewritePointwise(graph, reader, simplified(substituted(boundExpr(*reader), norm.result, rows)));
  }
  if (!others.empty()) graph.eraseIfDead(norm.result->producer);  // gone with its products, if not
  return true;
}

bool fuseRowNorms(Graph& graph, const PassOptions& options) {
  if (options.fusion.normalisedRows == 0) return false;
  std::vector<Node*> norms = graph.nodeList();  // alone: readers go
  std::erase_if(norms, [](const Node* node) { return node->op != &ops::LayerNorm; });
  bool changed = false;
  for (Node* norm : norms) changed |= fuseRowNorm(graph, norm, options.fusion.normalisedRows);
  return changed;
}

}  // namespace camshaft
