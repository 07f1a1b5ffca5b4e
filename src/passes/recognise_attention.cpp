// Scaled dot-product attention spelled as matrix products around a softmax becomes one node.
//
//   %s = MatMul(%q, %kT)                 scaled before or after, on either operand
//   %m = Pointwise(%s, %mask) {add}      any number of masks, added or chosen by where(), also to
//                                        scores whose dimensions are taken apart meanwhile
//   %p = Softmax(%m)                     NaN of rows without keys replaced by 0, or not
//   %y = MatMul(%p, %v)
//   →
//   %y = Attention(%q, %k, %v, %mask) {scale}
#include <algorithm>
#include <optional>

#include "ir/rewrite.h"
#include "ops/attention.h"
#include "ops/gemm.h"
#include "ops/move.h"
#include "ops/ops.h"
#include "ops/pointwise.h"
#include "ops/softmax.h"
#include "passes/bound_expr.h"
#include "passes/edit.h"
#include "passes/passes.h"
#include "passes/permutation.h"

namespace camshaft {

namespace {

// Something added to the scores.
struct Mask {
  Value* tensor;
  Expr expr;    // what of the tensor is added; empty: the tensor itself
  Shape apart;  // not empty: the scores had this shape, with dimensions taken apart
};

struct Scores {
  Node* product = nullptr;  // q times k
  double scale = 1;
  std::vector<Mask> masks;
};

}  // namespace

// x when the value is x times a number, which multiplies `scale`.
static Value* unscaled(Value* value, double& scale) {
  const Node* node = producerOf(value, &ops::Pointwise);
  if (!node || node->inputs.size() != 1) return nullptr;
  const auto& code = node->as<PointwiseAttrs>().expr.code();
  const ScalarInstruction& last = code.back();
  if (code.size() != 3 || code[last.a].op != ScalarOp::kInput || last.b < 0 ||
      code[last.b].op != ScalarOp::kConst)
    return nullptr;
  if (last.op != ScalarOp::kMul && last.op != ScalarOp::kDiv) return nullptr;
  scale = last.op == ScalarOp::kMul ? scale * code[last.b].real : scale / code[last.b].real;
  return node->inputs[0];
}

// Scores and mask of where(condition, scores, low), either way round. Numbers this low leave no
// weight to a key.
static std::optional<std::pair<Value*, Mask>> chosen(const Node& node) {
  constexpr double kLow = -1e4;
  const BoundExpr bound = boundExpr(node);
  const auto& code = bound.expr.code();
  const ScalarInstruction& last = code.back();
  if (last.op != ScalarOp::kWhere || bound.inputs.size() != 2 ||
      code[last.a].op != ScalarOp::kInput)
    return std::nullopt;
  const bool keepsWhenTrue = code[last.b].op == ScalarOp::kInput;
  const ScalarInstruction &kept = code[keepsWhenTrue ? last.b : last.c],
                          &low = code[keepsWhenTrue ? last.c : last.b];
  if (kept.op != ScalarOp::kInput || low.op != ScalarOp::kConst || low.real > kLow)
    return std::nullopt;
  Mask mask{bound.inputs[code[last.a].a], {}, {}};
  const int condition = mask.expr.input(0, DataType::kBool);
  const int zero = mask.expr.constant(0, low.type), lowest = mask.expr.constant(low.real, low.type);
  mask.expr.where(condition, keepsWhenTrue ? zero : lowest, keepsWhenTrue ? lowest : zero);
  return std::pair{bound.inputs[kept.a], mask};
}

static bool followScores(const Graph& graph, Value* value, Scores& scores);

static bool followMask(const Graph& graph, Value* inner, Mask mask, Scores& scores) {
  if (scores.scale != 1) return false;  // the mask would be scaled too
  scores.masks.push_back(std::move(mask));
  if (followScores(graph, inner, scores)) return true;
  scores.masks.pop_back();
  return false;
}

// How many dimensions of `apart` each one of `whole` was taken apart in; empty: it was not.
static std::vector<size_t> partsOf(const Shape& whole, const Shape& apart) {
  std::vector<size_t> counts;
  size_t next = 0;
  for (const Dim& dim : whole) {
    const size_t first = next;
    Dim product = 1;
    do {
      if (next == apart.size()) return {};
      product *= apart[next++];
    } while (product != dim);
    counts.push_back(next - first);
  }
  return next == apart.size() ? counts : std::vector<size_t>();
}

// Masks added one after the other, up to the Reshape that took the scores apart.
static bool followSums(const Graph& graph, Value* value, const Shape& whole, Scores& scores) {
  if (!soleUser(graph, value)) return false;
  const Shape& shape = value->shape();
  const Node* apart = producerOf(value, &ops::Reshape);
  if (apart && apart->input(0)->shape() == whole)
    return !scores.masks.empty() && followScores(graph, apart->input(0), scores);
  const Node* sum = producerOf(value, &ops::Pointwise);
  if (!sum || !sum->as<PointwiseAttrs>().expr.isSingle(ScalarOp::kAdd)) return false;
  for (int i : {0, 1}) {
    if (sum->inputs[i]->shape() != shape) continue;
    scores.masks.push_back({sum->inputs[1 - i], {}, shape});
    if (followSums(graph, sum->inputs[i], whole, scores)) return true;
    scores.masks.pop_back();
  }
  return false;
}

// Reshape(Reshape(scores) + mask + ...): the batch divided into windows while a mask for each is
// added, or queries and keys into lines and columns of an image.
static bool followApart(const Graph& graph, Value* value, Scores& scores) {
  const Node* join = producerOf(value, &ops::Reshape);
  if (!join || scores.scale != 1 || partsOf(value->shape(), join->input(0)->shape()).empty())
    return false;
  return followSums(graph, join->input(0), value->shape(), scores);
}

// From what the softmax reads up to the product of q and k.
static bool followScores(const Graph& graph, Value* value, Scores& scores) {
  if (!soleUser(graph, value)) return false;
  if ((scores.product = producerOf(value, &ops::MatMul))) return true;
  const Node* node = producerOf(value, &ops::Pointwise);
  if (!node) return followApart(graph, value, scores);
  const double scaleBefore = scores.scale;
  if (Value* inner = unscaled(value, scores.scale)) {
    if (followScores(graph, inner, scores)) return true;
    scores.scale = scaleBefore;
    return false;
  }
  if (const auto where = chosen(*node))
    return where->first->shape() == value->shape() &&
           followMask(graph, where->first, where->second, scores);
  if (!node->as<PointwiseAttrs>().expr.isSingle(ScalarOp::kAdd)) return false;
  for (int i : {0, 1})
    if (node->inputs[i]->shape() == value->shape() &&
        followMask(graph, node->inputs[i], {node->inputs[1 - i], {}, {}}, scores))
      return true;
  return false;
}

static BoundExpr zeroWhereNaN(Value* x) {
  BoundExpr bound{{}, {x}};
  const int value = bound.expr.input(0, x->dataType());
  const int isNaN = bound.expr.apply(ScalarOp::kNotEqual, value, value);
  bound.expr.where(isNaN, bound.expr.constant(0, x->dataType()), value);
  return simplified(bound);
}

// The softmax's result, or that with NaN replaced by 0 when this is how it is read.
static Value* weightsOf(const Graph& graph, Node* softmax) {
  Value* result = softmax->output();
  if (graph.isOutput(result)) return nullptr;
  if (soleUser(graph, result)) return result;
  for (Node* user : result->users) {
    if (user->op != &ops::Pointwise || user->epilogue || user->inputs.size() != 2) continue;
    const Node* isNaN = producerOf(otherInput(user, result), &ops::Pointwise);
    if (!isNaN || isNaN->inputs != std::vector<Value*>{result} || result->users.size() > 3)
      continue;
    const BoundExpr bound =
        simplified(substituted(boundExpr(*user), isNaN->output(), boundExpr(*isNaN)));
    if (toString(bound.expr) == toString(zeroWhereNaN(result).expr)) return user->output();
  }
  return nullptr;
}

static bool swapsLastTwo(const Permutation& order) {
  Permutation swapped = identityOrder(order.size());
  std::swap(swapped[order.size() - 1], swapped[order.size() - 2]);
  return order == swapped;
}

// Keys as [..., length, size] when a transpose that made them [..., size, length] can be undone.
static Value* uprightKeys(Graph& graph, Value* k, Node* before) {
  Node* reshape = producerOf(k, &ops::Reshape);
  const Node* transpose = producerOf(reshape ? reshape->input(0) : k, &ops::Transpose);
  if (!transpose || transpose->output()->rank() < 2) return nullptr;
  Permutation order = transpose->as<TransposeAttrs>().order;
  Shape shape = k->shape();
  std::swap(shape[shape.size() - 1], shape[shape.size() - 2]);
  if (reshape) {
    const Shape &in = transpose->output()->shape(), &out = k->shape();
    const bool keepsMatrices = out.size() >= 2 && std::equal(in.end() - 2, in.end(), out.end() - 2);
    return keepsMatrices && swapsLastTwo(order)
               ? addReshape(graph, reshape->name, transpose->input(0), shape, before)
               : nullptr;
  }
  std::swap(order[order.size() - 1], order[order.size() - 2]);
  if (isIdentity(order)) return transpose->input(0);
  if (!soleUser(graph, transpose->output())) return nullptr;
  TransposeAttrs attrs;
  attrs.order = order;
  return graph
      .add(&ops::Transpose, transpose->name, {transpose->input(0)}, std::move(attrs), before)
      ->output();
}

// [batch, heads, rows, columns], of whatever stands in front of these three in the place of one.
static Shape withRank4(const Shape& shape) {
  if (shape.size() < 4) {
    Shape full(4 - shape.size(), Dim(1));
    full.insert(full.end(), shape.begin(), shape.end());
    return full;
  }
  Shape merged(shape.end() - 4, shape.end());
  for (auto dim = shape.begin(); dim != shape.end() - 4; ++dim) merged[0] *= *dim;
  return merged;
}

// A mask that broadcasts to `scores`, for these with so many dimensions each joined to one.
static Value* joinedMask(Graph& graph, Value* mask, const Shape& scores,
                         const std::vector<size_t>& counts, const std::string& name, Node* before) {
  Shape shape(scores.size() - mask->shape().size(), Dim(1)), joined;
  shape.insert(shape.end(), mask->shape().begin(), mask->shape().end());
  Value* full = addReshape(graph, name, mask, shape, before);
  auto part = shape.begin();
  auto whole = scores.begin();
  for (const size_t count : counts) {
    const bool isOne =
        std::all_of(part, part + count, [](const Dim& dim) { return dim.isConstant(1); });
    joined.push_back(isOne ? Dim(1) : numElements(Shape(whole, whole + count)));
    if (!isOne) std::copy_n(whole, count, part);
    part += count;
    whole += count;
  }
  if (full->shape() != shape) {
    ExpandAttrs attrs;
    attrs.shape = shape;
    full = graph.add(&ops::Expand, name, {full}, std::move(attrs), before)->output();
  }
  return addReshape(graph, name, full, joined, before);
}

// A mask of scores of any rank for those of rank 4.
static Value* maskWithRank4(Graph& graph, Value* mask, const Shape& scores, Node* before) {
  if (scores.size() <= 4 || mask->rank() <= 3) return mask;
  return joinedMask(graph, mask, scores, {scores.size() - 3, 1, 1, 1}, mask->name, before);
}

// One tensor that broadcasts to the scores.
static Value* addMask(Graph& graph, const Mask& mask, const Shape& scores, const std::string& name,
                      Node* before) {
  if (!mask.expr.empty()) return addPointwise(graph, name, {mask.tensor}, mask.expr, before);
  if (mask.apart.empty()) return mask.tensor;
  return joinedMask(graph, mask.tensor, mask.apart, partsOf(scores, mask.apart), name, before);
}

// The sum of all; those of scores taken apart in one way are added as they are.
static Value* addMasks(Graph& graph, std::vector<Mask> masks, const Shape& scores,
                       const std::string& name, Node* before) {
  const auto sumOf = [&](Value* a, Value* b) {
    return a ? addBinary(graph, ScalarOp::kAdd, name, a, b, before) : b;
  };
  Value* sum = nullptr;
  for (size_t i = 0; i < masks.size(); ++i) {
    const bool joinsNext =
        i + 1 < masks.size() && !masks[i].apart.empty() && masks[i].apart == masks[i + 1].apart;
    if (joinsNext)
      masks[i + 1].tensor = sumOf(masks[i].tensor, masks[i + 1].tensor);
    else
      sum = sumOf(sum, addMask(graph, masks[i], scores, name, before));
  }
  return sum;
}

static bool sameBatches(const Value* a, const Value* b) {
  return a->rank() == b->rank() &&
         std::equal(a->shape().begin(), a->shape().end() - 2, b->shape().begin());
}

static bool recognise(Graph& graph, Node* softmax) {
  const auto& softmaxAttrs = softmax->as<SoftmaxAttrs>();
  if (softmaxAttrs.kind != SoftmaxKind::kSoftmax ||
      softmaxAttrs.axis != softmax->output()->rank() - 1)
    return false;
  Value* weights = weightsOf(graph, softmax);
  Node* product = weights ? soleUser(graph, weights) : nullptr;
  if (!product || product->op != &ops::MatMul || product->epilogue || product->input(0) != weights)
    return false;
  if (product->input(1) == weights || product->as<MatMulAttrs>().transposeA ||
      product->as<MatMulAttrs>().transposeB)
    return false;
  Scores scores;
  if (!followScores(graph, softmax->input(0), scores) ||
      scores.product->as<MatMulAttrs>().transposeA)
    return false;

  AttentionAttrs attrs;
  attrs.scale = scores.scale;
  attrs.transposedKeys = !scores.product->as<MatMulAttrs>().transposeB;
  Value *q = scores.product->input(0), *k = scores.product->input(1), *v = product->input(1);
  while (Value* inner = unscaled(q, attrs.scale)) q = inner;
  while (Value* inner = unscaled(k, attrs.scale)) k = inner;
  if (!sameBatches(q, k) || !sameBatches(q, v) || !isFloat(q->dataType())) return false;

  if (attrs.transposedKeys)
    if (Value* upright = uprightKeys(graph, k, product)) {
      k = upright;
      attrs.transposedKeys = false;
    }
  std::vector<Value*> inputs;
  for (Value* operand : {q, k, v})
    inputs.push_back(
        addReshape(graph, operand->name, operand, withRank4(operand->shape()), product));
  const Shape& shape = scores.product->output()->shape();
  if (Value* mask = addMasks(graph, scores.masks, shape, softmax->name, product))
    inputs.push_back(maskWithRank4(graph, mask, shape, product));
  Node* attention =
      graph.add(&ops::Attention, product->name, std::move(inputs), std::move(attrs), product);
  mergeOrigins(attention, softmax);
  replaceValue(
      graph, product->output(),
      addReshape(graph, product->name, attention->output(), product->output()->shape(), product));
  return true;
}

bool recogniseAttention(Graph& graph, const PassOptions&) {
  std::vector<Node*> candidates;
  for (const auto& node : graph.nodes())
    if (node->op == &ops::Softmax && !node->epilogue) candidates.push_back(node.get());
  bool changed = false;
  for (Node* softmax : candidates) changed |= recognise(graph, softmax);
  return changed;
}

}  // namespace camshaft
