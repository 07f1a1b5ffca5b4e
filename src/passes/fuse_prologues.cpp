// Products normalise what they read, also where models widen x for the norm and narrow its result.
//
// Those of a few rows with weights of a few bits:
//
//   %n = LayerNorm(%x, %f) {rms}                      // [..., K], read by such products alone
//   %y = MatMulNBits(%n, %w, %s)
//   →
//   %y = MatMulNBits(%x, %w, %s, _, %f) {rms}
//
// As for gates (fuse_gates), one kernel less is memory that does not wait: each block normalises
// the rows for itself while its first weights come.
//
// And those of a few hundred rows, where the device has a kernel for it:
//
//   %n = LayerNorm(%x, %f, %b)                        // read by products and pointwise work
//   %y = MatMul(%n, %w)
//   %r = Pointwise(%n, ...)                           // a residual, maybe
//   →
//   %y, %mean, %factor = NormMatMul(%x, %w, %f, %b)
//   %r = Pointwise(%x, %mean, %factor, %f, %b, ...)   // (x - mean) factor f + b
#include <algorithm>
#include <cmath>

#include "ir/rewrite.h"
#include "ops/gemm.h"
#include "ops/gemm_nbits.h"
#include "ops/norm.h"
#include "ops/ops.h"
#include "ops/pointwise.h"
#include "passes/bound_expr.h"
#include "passes/edit.h"
#include "passes/passes.h"
#include "passes/weight_streams.h"

namespace camshaft {

constexpr size_t kMostReaders = 2;  // each does the work again

namespace {

struct RowNorm {
  Value *x = nullptr, *factors = nullptr, *shifts = nullptr;  // these two may be none
  Value* result = nullptr;
};

}  // namespace

static bool isPlain(const Node* node) {
  return node && node->op == &ops::Pointwise && !node->epilogue;
}

static bool isCast(const Node* node) {
  return isPlain(node) && node->as<PointwiseAttrs>().expr.isSingle(ScalarOp::kCast);
}

// Takes in what makes a result of f32 one of fewer bits, times constants of these.
static void takeNarrowing(const Graph& graph, RowNorm& norm) {
  const Node* reader = soleUser(graph, norm.result);
  if (isCast(reader)) {
    norm.result = reader->output();
    return;
  }
  if (!isPlain(reader) || reader->inputs.size() != 2 || norm.factors || norm.shifts) return;
  const auto& code = reader->as<PointwiseAttrs>().expr.code();
  if (code.size() != 4 || code[3].op != ScalarOp::kMul) return;
  const bool isFirst = code[code[3].a].op == ScalarOp::kCast;
  const ScalarInstruction &cast = code[isFirst ? code[3].a : code[3].b],
                          &other = code[isFirst ? code[3].b : code[3].a];
  if (cast.op != ScalarOp::kCast || other.op != ScalarOp::kInput) return;
  if (reader->inputs[code[cast.a].a] != norm.result) return;
  norm.factors = reader->inputs[other.a];
  norm.result = reader->output();
}

static bool areFactors(const Value* value, const Dim& depth) {
  return value->isConstant() && value->shape() == Shape{depth} &&
         value->dataType() != DataType::kF64;
}

// As products take it; without a result where none does.
static RowNorm rowNormOf(const Graph& graph, const Node& node) {
  const auto& attrs = node.as<LayerNormAttrs>();
  const int64_t rank = node.input(0)->rank();
  if (attrs.axis != rank - 1 || node.epilogue) return {};
  RowNorm norm{.x = node.input(0),
               .factors = node.input(1),
               .shifts = node.input(2),
               .result = node.output()};
  if (norm.x->dataType() == DataType::kF32 && isCast(norm.x->producer)) {
    norm.x = norm.x->producer->input(0);
    takeNarrowing(graph, norm);
  }
  const Dim& depth = norm.x->shape().back();
  const bool isTaken = norm.x->type == norm.result->type && !graph.isOutput(norm.result) &&
                       (!norm.factors || areFactors(norm.factors, depth)) &&
                       (!norm.shifts || areFactors(norm.shifts, depth));
  return isTaken ? norm : RowNorm{};
}

static bool takesNorm(const Graph& graph, const Node& product, const Value* result,
                      const PassOptions& options) {
  return isWeightStream(graph, product, options) && !product.as<MatMulNBitsAttrs>().rms &&
         !product.epilogue && product.input(0) == result;
}

static void normaliseIn(Graph& graph, Node* product, const RowNorm& norm, const Node& from) {
  MatMulNBitsAttrs attrs = product->as<MatMulNBitsAttrs>();
  attrs.rms = true;
  attrs.epsilon = from.as<LayerNormAttrs>().epsilon;
  std::vector<Value*> inputs = product->inputs;
  inputs[0] = norm.x;
  if (norm.factors) {
    inputs.resize(5);
    inputs[4] = norm.factors;
  }
  Node* fused =
      graph.add(&ops::MatMulNBits, product->name, std::move(inputs), std::move(attrs), product);
  mergeOrigins(fused, &from);
  mergeOrigins(fused, norm.result->producer);
  replaceValue(graph, product->output(), fused->output());
}

static bool streamsNormalise(Graph& graph, const Node& node, const RowNorm& norm,
                             const PassOptions& options) {
  if (options.fusion.streamedElements == 0 || !node.as<LayerNormAttrs>().rms || norm.shifts)
    return false;
  const std::vector<Node*> readers(norm.result->users.begin(), norm.result->users.end());
  const bool areProducts = std::all_of(readers.begin(), readers.end(), [&](const Node* reader) {
    return takesNorm(graph, *reader, norm.result, options);
  });
  if (readers.empty() || readers.size() > kMostReaders || !areProducts) return false;
  for (Node* reader : readers) normaliseIn(graph, reader, norm, node);
  return true;
}

// ---- Products of a few hundred rows ----------------------------------------------------------

// Weights that take the norm's factors stay numbers of their type, and keep its digits.
static bool canScale(const Value& weights, const Value* factors) {
  constexpr double kLeast = 1e-2, kMost = 6e4;
  const auto largest = [](const Value& value) {
    double most = 0;
    const ConstTensorView view = value.view();
    for (int64_t i = 0; i < view.count(); ++i)
      most = std::max(most, std::fabs(readElement(view.type, view.data, i)));
    return most;
  };
  if (weights.isOpaque() || (factors && factors->isOpaque())) return false;
  const double most = largest(weights) * (factors ? largest(*factors) : 1);
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

static bool normalisesRows(const Graph& graph, const RowProduct& product, const RowNorm& norm,
                           const PassOptions& options) {
  constexpr int64_t kFewRows = 32, kUnit = 32;  // fewer are read by kernels of another kind
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
  const Dim &depth = shape.back(), &columns = weights.shape()[attrs.transposeB ? 0 : 1];
  if (!depth.isConstant() || depth.value() <= 0 || depth.value() % kUnit != 0 ||
      !columns.isConstant() || columns.value() <= 0 || columns.value() % (kUnit / 4) != 0)
    return false;
  const DimRange rows =
      rangeOf(numElements(Shape(shape.begin(), shape.end() - 1)), graph.symbolRange());
  return rows.min >= kFewRows &&
         rows.max <= options.fusion.normalisedProducts / (depth.value() * columns.value()) &&
         canScale(weights, norm.factors);
}

// The product on rows as they are, in the place of the norm.
static Node* multiplyNormalised(Graph& graph, const RowProduct& rows, const RowNorm& norm,
                                Node* from, bool keepsMoments) {
  Node* product = rows.node;
  const auto& attrs = from->as<LayerNormAttrs>();
  NormMatMulAttrs fused;
  fused.transposeB = product->as<MatMulAttrs>().transposeB;
  fused.epsilon = attrs.epsilon;
  fused.rms = attrs.rms;
  fused.keepsMoments = keepsMoments;
  Value* x = addReshape(graph, norm.x->name, norm.x, rows.rows()->shape(), from);
  std::vector<Value*> inputs = {x, product->input(1)};
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

static bool rowsNormalise(Graph& graph, Node* node, const RowNorm& norm,
                          const PassOptions& options) {
  if (options.fusion.normalisedProducts == 0) return false;
  std::vector<RowProduct> products;
  std::vector<Node*> others;
  for (Node* reader : norm.result->users) {
    const RowProduct product = rowProductOf(graph, reader, norm);
    if (normalisesRows(graph, product, norm, options))
      products.push_back(product);
    else
      others.push_back(reader);
  }
  if (products.empty() || products.size() > kMostReaders || !std::ranges::all_of(others, isPlain))
    return false;
  Node* last = nullptr;
  for (size_t i = 0; i < products.size(); ++i) {
    const bool keepsMoments = !others.empty() && i + 1 == products.size();
    last = multiplyNormalised(graph, products[i], norm, node, keepsMoments);
  }
  for (Node* reader : others) {
    const BoundExpr rows = restored(graph, norm, *last, reader);
    rewritePointwise(graph, reader, simplified(substituted(boundExpr(*reader), norm.result, rows)));
  }
  if (!others.empty()) graph.eraseIfDead(norm.result->producer);  // gone with its products, if not
  return true;
}

static bool fusePrologue(Graph& graph, Node* node, const PassOptions& options) {
  const RowNorm norm = rowNormOf(graph, *node);
  return norm.result && (streamsNormalise(graph, *node, norm, options) ||
                         rowsNormalise(graph, node, norm, options));
}

bool fusePrologues(Graph& graph, const PassOptions& options) {
  std::vector<Node*> norms = graph.nodeList();  // alone: readers go
  std::erase_if(norms, [](const Node* node) { return node->op != &ops::LayerNorm; });
  bool changed = false;
  for (Node* norm : norms) changed |= fusePrologue(graph, norm, options);
  return changed;
}

}  // namespace camshaft
