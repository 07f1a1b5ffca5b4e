// Normalisations that exporters spell as many nodes become one.
//
//   %m = Reduce(%x) {mean}                     over the last dimensions
//   %d = Pointwise(%x, %m) {sub}
//   %v = Reduce(Pointwise(%d) {x*x}) {mean}
//   %y = Pointwise(%d, Pointwise(%v) {sqrt(x + epsilon)}) {div}
//   →
//   %y = LayerNorm(%x)                         with rms when there is no %m
//
//   LayerNorm(x) * scale + bias                          →  LayerNorm(x, scale, bias)
//   Reshape(GroupNorm(Reshape(x) to [N, G, -1]))         →  GroupNorm(x) {groups = G}
//   GroupNorm(x) * scale + bias                          →  GroupNorm(x, scale, bias)
#include <optional>

#include "ir/rewrite.h"
#include "ops/move.h"
#include "ops/norm.h"
#include "ops/ops.h"
#include "ops/pointwise.h"
#include "ops/reduce.h"
#include "passes/bound_expr.h"
#include "passes/edit.h"
#include "passes/passes.h"
#include "passes/permutation.h"

namespace camshaft {

namespace {

struct Normalised {
  Value* x;
  Node* result;  // computes x normalised
  LayerNormAttrs attrs;
};

}  // namespace

// A mean over the last dimensions that keeps them.
static Node* trailingMean(const Value* value) {
  Node* reduce = producerOf(value, &ops::Reduce);
  if (!reduce || reduce->as<ReduceAttrs>().kind != ReduceKind::kMean ||
      !reduce->as<ReduceAttrs>().keepDims)
    return nullptr;
  const auto& axes = reduce->as<ReduceAttrs>().axes;
  if (axes.empty() || axes.back() != value->rank() - 1) return nullptr;
  return axes.back() - axes.front() + 1 == static_cast<int64_t>(axes.size()) ? reduce : nullptr;
}

// The value whose square the node gives.
static Value* squared(const Node* node) {
  if (!node || node->inputs.size() != 1) return nullptr;
  const auto& code = node->as<PointwiseAttrs>().expr.code();
  const bool isSquare =
      code.size() == 2 && code[1].op == ScalarOp::kMul && code[1].a == 0 && code[1].b == 0;
  return isSquare ? node->inputs[0] : nullptr;
}

// x, when d is x less its mean over the same dimensions.
static Value* centredFrom(const Value* d, const std::vector<int64_t>& axes) {
  const Node* sub = producerOf(d, &ops::Pointwise);
  if (!sub || !sub->as<PointwiseAttrs>().expr.isSingle(ScalarOp::kSub)) return nullptr;
  const Node* mean = trailingMean(sub->inputs[1]);
  const bool matches =
      mean && mean->as<ReduceAttrs>().axes == axes && mean->input(0) == sub->inputs[0];
  return matches ? sub->inputs[0] : nullptr;
}

// Epsilon, when the expression is d / sqrt(variance + epsilon) in any of its spellings.
static std::optional<double> epsilonOf(const BoundExpr& bound, const Value* d,
                                       const Value* variance) {
  const auto& code = bound.expr.code();
  const auto isInput = [&](int i, const Value* value) {
    return code[i].op == ScalarOp::kInput && bound.inputs[code[i].a] == value;
  };
  const ScalarInstruction& last = code.back();
  int root = -1;
  if (last.op == ScalarOp::kDiv && isInput(last.a, d) && code[last.b].op == ScalarOp::kSqrt)
    root = last.b;
  if (last.op == ScalarOp::kMul)
    for (const auto& [x, factor] : {std::pair{last.a, last.b}, std::pair{last.b, last.a}})
      if (isInput(x, d) && code[factor].op == ScalarOp::kRsqrt) root = factor;
  if (root < 0) return std::nullopt;
  const ScalarInstruction& sum = code[code[root].a];
  if (sum.op == ScalarOp::kInput)
    return isInput(code[root].a, variance) ? std::optional(0.0) : std::nullopt;
  if (sum.op != ScalarOp::kAdd || code[sum.b].op != ScalarOp::kConst || !isInput(sum.a, variance))
    return std::nullopt;
  return code[sum.b].real;
}

// From the mean of squares down to where it divides what was squared.
static std::optional<Normalised> matchFrom(const Graph& graph, Node* meanOfSquares) {
  Value* d = squared(producerOf(meanOfSquares->input(0), &ops::Pointwise));
  if (!d || !isFloat(d->dataType())) return std::nullopt;
  const std::vector<int64_t>& axes = meanOfSquares->as<ReduceAttrs>().axes;
  Value* variance = meanOfSquares->output();
  Node* node = nullptr;
  std::optional<BoundExpr> chain;
  for (Value* at = variance;
       !node || std::find(node->inputs.begin(), node->inputs.end(), d) == node->inputs.end();
       at = node->output()) {
    node = soleUser(graph, at);
    if (!node || node->op != &ops::Pointwise || node->epilogue) return std::nullopt;
    chain = chain ? substituted(boundExpr(*node), at, *chain) : boundExpr(*node);
  }
  const std::optional<double> epsilon = epsilonOf(simplified(*chain), d, variance);
  if (!epsilon || node->output()->shape() != d->shape()) return std::nullopt;
  Normalised found{d, node, {}};
  if (Value* x = centredFrom(d, axes)) found.x = x;
  found.attrs.rms = found.x == d;
  found.attrs.axis = axes.front();
  found.attrs.epsilon = *epsilon;
  return found;
}

static bool recogniseLayerNorm(Graph& graph, Node* node) {
  if (node->op != &ops::Reduce || trailingMean(node->output()) != node) return false;
  const std::optional<Normalised> found = matchFrom(graph, node);
  if (!found) return false;
  Node* norm =
      graph.add(&ops::LayerNorm, found->result->name, {found->x}, found->attrs, found->result);
  replaceValue(graph, found->result->output(), norm->output());
  return true;
}

// What the only reader of the value, this one operation, combines it with.
static Value* combinedWith(const Graph& graph, const Value* value, ScalarOp op, Node** reader) {
  *reader = soleUser(graph, value);
  if (!*reader || (*reader)->op != &ops::Pointwise || (*reader)->epilogue) return nullptr;
  if (!(*reader)->as<PointwiseAttrs>().expr.isSingle(op) ||
      (*reader)->output()->shape() != value->shape())
    return nullptr;
  Value* other = otherInput(*reader, value);
  return other && other->isConstant() ? other : nullptr;
}

// The constant as a vector of one element per channel, when it varies along channels only.
static Value* perChannel(Graph& graph, Value* constant, int64_t rank, const Dim& channels) {
  Shape shape(rank - constant->rank(), Dim(1));
  shape.insert(shape.end(), constant->shape().begin(), constant->shape().end());
  Shape wanted(rank, Dim(1));
  wanted[1] = channels;
  if (shape != wanted) return nullptr;
  return graph.addConstant(constant->name, {constant->dataType(), {channels}}, constant->constant);
}

static Value* asParameter(Graph& graph, const Node& norm, Value* constant) {
  const Value* x = norm.input(0);
  if (norm.op == &ops::LayerNorm)
    return constant->rank() <= x->rank() - norm.as<LayerNormAttrs>().axis ? constant : nullptr;
  return norm.as<GroupNormAttrs>().channelsLast
             ? nullptr
             : perChannel(graph, constant, x->rank(), x->shape()[1]);
}

// Scale and bias that follow become the normalisation's own.
static bool absorbParameter(Graph& graph, Node* norm, int index, ScalarOp op) {
  if (norm->epilogue || norm->hasInput(index)) return false;
  if (index == 1 && norm->hasInput(2)) return false;  // its bias would be scaled
  Node* reader = nullptr;
  Value* constant = combinedWith(graph, norm->output(), op, &reader);
  Value* parameter = constant ? asParameter(graph, *norm, constant) : nullptr;
  if (!parameter) return false;
  std::vector<Value*> inputs = norm->inputs;
  inputs.resize(std::max<size_t>(inputs.size(), index + 1));
  inputs[index] = parameter;
  graph.setInputs(norm, std::move(inputs));
  graph.inferTypes(norm);
  graph.moveBefore(norm, reader);
  replaceValue(graph, reader->output(), norm->output());
  return true;
}

static bool isNeutral(const Node& norm) {
  return (!norm.hasInput(1) || isScalarConstant(norm.input(1), 1.0)) &&
         (!norm.hasInput(2) || isScalarConstant(norm.input(2), 0.0));
}

// Instance normalisation of groups laid out as channels is group normalisation.
static bool recogniseGroupNorm(Graph& graph, Node* node) {
  if (node->op != &ops::GroupNorm || node->epilogue || node->as<GroupNormAttrs>().groups != 0 ||
      !isNeutral(*node))
    return false;
  const Node* split = producerOf(node->input(0), &ops::Reshape);
  Node* join = soleUser(graph, node->output());
  if (!split || !join || join->op != &ops::Reshape || join->epilogue) return false;
  Value* x = split->input(0);
  const Shape &in = x->shape(), &grouped = node->input(0)->shape();
  if (x->rank() < 3 || join->output()->shape() != in || grouped.size() < 3) return false;
  if (grouped[0] != in[0] || !grouped[1].isConstant() || !in[1].isConstant()) return false;
  if (grouped[1].isConstant(0)) return false;
  if (in[1].value() % grouped[1].value() != 0) return false;
  GroupNormAttrs attrs = node->as<GroupNormAttrs>();
  attrs.groups = grouped[1].value();
  Node* norm = graph.add(&ops::GroupNorm, node->name, {x}, attrs, join);
  mergeOrigins(norm, node);
  replaceValue(graph, join->output(), norm->output());
  return true;
}

// A match erases nodes further on, so the walk starts again.
static bool recogniseOne(Graph& graph) {
  for (Node* node : graph.nodeList())
    if (recogniseLayerNorm(graph, node) || recogniseGroupNorm(graph, node)) return true;
  return false;
}

static std::vector<Node*> normsOf(const Graph& graph) {
  std::vector<Node*> norms;
  for (const auto& node : graph.nodes())
    if (node->op == &ops::LayerNorm || node->op == &ops::GroupNorm) norms.push_back(node.get());
  return norms;
}

bool recogniseNorm(Graph& graph, const PassOptions&) {
  bool changed = false;
  while (recogniseOne(graph)) changed = true;
  for (Node* norm : normsOf(graph)) {
    changed |= absorbParameter(graph, norm, 1, ScalarOp::kMul);
    changed |= absorbParameter(graph, norm, 2, ScalarOp::kAdd);
  }
  graph.eraseUnusedConstants();
  return changed;
}

}  // namespace camshaft
