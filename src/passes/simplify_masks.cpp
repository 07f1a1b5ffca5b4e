// Masks of attention say less: what is always true goes, and "no key after the query" becomes an
// attribute.
//
//   %m = Pointwise(%past, %kept) {where(and(x0, x1), 0, -inf)}      // past: key <= query
//   %y = Attention(%q, %k, %v, %m)
//   →
//   %m = Pointwise(%kept) {where(x0, 0, -inf)}
//   %y = Attention(%q, %k, %v, %m) {causal}
//
// Numbers as low as these leave no weight to a key, whatever they are exactly. Masks are broadcast
// anyway, so what repeats one for every batch goes as well: an Expand, or copies in a constant.
// Kernels read the masks of some batches again and again, so what repeats these goes too:
//
//   %e = Expand(%m) [n, 64, 1, 49, 49]              // m is [64, 1, 49, 49], of an image's windows
//   %r = Reshape(%e) [64*n, 1, 49, 49]
//   %y = Attention(%q, %k, %v, %r)
//   →
//   %y = Attention(%q, %k, %v, %m) {mask_batches = 64}
#include <algorithm>
#include <cstring>
#include <optional>

#include "ir/rewrite.h"
#include "ops/attention.h"
#include "ops/move.h"
#include "ops/ops.h"
#include "ops/pointwise.h"
#include "ops/shape.h"
#include "passes/edit.h"
#include "passes/passes.h"

namespace camshaft {

namespace {

// A mask as conditions that all must hold, and what a key that breaks one gets; 0 for masks that
// are conditions themselves.
struct Conditions {
  std::vector<Value*> all;
  Expr added;  // of the condition; empty: the mask is bool
};

}  // namespace

constexpr double kLow = -1e4;

static void collectConditions(Value* value, std::vector<Value*>& all) {
  value = skipThrough(value, &ops::Expand);
  const Node* node = producerOf(value, &ops::Pointwise);
  if (node && node->as<PointwiseAttrs>().expr.isSingle(ScalarOp::kAnd)) {
    for (Value* input : node->inputs) collectConditions(input, all);
  } else if (std::find(all.begin(), all.end(), value) == all.end()) {
    all.push_back(value);
  }
}

// where(condition, 0, low)
static bool addsLowWhereFalse(const Expr& expr) {
  const auto& code = expr.code();
  const ScalarInstruction& last = code.back();
  if (last.op != ScalarOp::kWhere || expr.inputCount() != 1) return false;
  const ScalarInstruction &kept = code[last.b], &low = code[last.c];
  return code[last.a].op == ScalarOp::kInput && kept.op == ScalarOp::kConst && kept.real == 0 &&
         low.op == ScalarOp::kConst && low.real <= kLow;
}

static std::optional<Conditions> conditionsOf(Value* mask) {
  Conditions conditions;
  if (mask->dataType() == DataType::kBool || mask->isConstant()) {
    collectConditions(mask, conditions.all);
    return conditions;
  }
  const Node* node = producerOf(mask, &ops::Pointwise);
  if (!node || !addsLowWhereFalse(node->as<PointwiseAttrs>().expr)) return std::nullopt;
  conditions.added = node->as<PointwiseAttrs>().expr;
  collectConditions(node->inputs[0], conditions.all);
  return conditions;
}

// First of the consecutive numbers that the value holds, along one dimension.
static std::optional<Dim> firstOfRange(const Value* value) {
  while (const Node* reshape = producerOf(value, &ops::Reshape)) value = reshape->input(0);
  if (const Node* sum = producerOf(value, &ops::Pointwise)) {
    if (!sum->as<PointwiseAttrs>().expr.isSingle(ScalarOp::kAdd)) return std::nullopt;
    for (int i : {0, 1}) {
      const auto& shift = sum->inputs[i]->contents;
      const auto first =
          shift && shift->size() == 1 ? firstOfRange(sum->inputs[1 - i]) : std::nullopt;
      if (first) return *first + shift->front();
    }
    return std::nullopt;
  }
  const Node* range = producerOf(value, &ops::Range);
  if (!range || !isScalarConstant(range->input(1), 1.0)) return std::nullopt;
  const auto& start = range->input(0)->contents;
  return start && start->size() == 1 ? std::optional(start->front()) : std::nullopt;
}

// Every size but that of dimension `axis` (from the end) is 1.
static bool variesOnlyAlong(const Value* value, int64_t axis, const Dim& size) {
  const Shape& shape = value->shape();
  const auto rank = static_cast<int64_t>(shape.size());
  if (axis >= rank || shape[rank - 1 - axis] != size) return false;
  for (int64_t i = 0; i < rank; ++i)
    if (i != axis && !shape[rank - 1 - i].isConstant(1)) return false;
  return true;
}

static bool isTrue(const ConstTensorView& view, int64_t i, bool isCondition) {
  const double element = readElement(view.type, view.data, i);
  return isCondition ? element != 0 : element == 0;
}

// How many keys after its own a query sees, when the constant masks nothing but those beyond.
static std::optional<int64_t> reachOf(const Value* constant) {
  const ConstTensorView view = constant->view();
  const auto rank = view.dims.size();
  if (rank < 2 || view.count() != view.dims[rank - 1] * view.dims[rank - 2] || view.count() == 0)
    return std::nullopt;
  const int64_t queries = view.dims[rank - 2], keys = view.dims[rank - 1];
  const bool isCondition = view.type == DataType::kBool;
  int64_t seen = 0;  // by the first query
  while (seen < keys && isTrue(view, seen, isCondition)) ++seen;
  for (int64_t i = 0; i < view.count(); ++i) {
    const bool visible = i % keys < i / keys + seen;
    if (isTrue(view, i, isCondition) != visible) return std::nullopt;
    if (!visible && !isCondition && readElement(view.type, view.data, i) > kLow)
      return std::nullopt;
  }
  return queries > 1 || seen < keys ? std::optional(seen - 1) : std::nullopt;
}

// The same of key <= query + reach, spelled with the positions of both.
static std::optional<Dim> reachOf(const Node& comparison, const AttentionGeometry& geometry) {
  const Expr& expr = comparison.as<PointwiseAttrs>().expr;
  const bool keysFirst = expr.isSingle(ScalarOp::kLessEqual);
  if (!keysFirst && !expr.isSingle(ScalarOp::kGreaterEqual)) return std::nullopt;
  const Value *keys = comparison.inputs[keysFirst ? 0 : 1],
              *queries = comparison.inputs[keysFirst ? 1 : 0];
  if (!variesOnlyAlong(keys, 0, geometry.k.length) ||
      !variesOnlyAlong(queries, 1, geometry.q.length))
    return std::nullopt;
  const std::optional<Dim> firstKey = firstOfRange(keys), firstQuery = firstOfRange(queries);
  return firstKey && firstQuery ? std::optional(*firstQuery - *firstKey) : std::nullopt;
}

// Whether the condition is what causal means, with alignEnd or without.
static std::optional<bool> alignsEnd(const Value* condition, const AttentionGeometry& geometry) {
  std::optional<Dim> reach;
  if (condition->isOpaque()) return std::nullopt;
  if (condition->isConstant()) {
    if (const auto constant = reachOf(condition)) reach = Dim(*constant);
  } else if (const Node* comparison = producerOf(condition, &ops::Pointwise)) {
    reach = reachOf(*comparison, geometry);
  }
  if (!reach) return std::nullopt;
  if (reach->isConstant(0)) return false;
  return *reach == geometry.k.length - geometry.q.length ? std::optional(true) : std::nullopt;
}

static bool isAlwaysTrue(const Value* condition) {
  if (condition->isConstant()) {
    double number = 0;
    return isScalarConstant(condition, &number) &&
           (condition->dataType() == DataType::kBool ? number != 0 : number == 0);
  }
  const Node* node = producerOf(condition, &ops::Pointwise);  // position >= 0
  if (!node || node->inputs.size() != 1) return false;
  const auto& code = node->as<PointwiseAttrs>().expr.code();
  const ScalarInstruction& last = code.back();
  if (last.op != ScalarOp::kGreaterEqual || code[last.a].op != ScalarOp::kInput ||
      code[last.b].op != ScalarOp::kConst)
    return false;
  const std::optional<Dim> first = firstOfRange(node->inputs[0]);
  return first && first->isConstant() && first->value() >= code[last.b].integer;
}

// The constant without copies along its outer dimensions, null when it has none there.
static Value* withoutCopies(Graph& graph, const Value* constant) {
  const Shape& shape = constant->shape();
  const std::span<const std::byte> bytes = constant->constant->bytes;
  if (bytes.empty() || constant->isOpaque()) return nullptr;
  Shape kept = shape;
  size_t size = bytes.size();  // of what is left, a prefix of the bytes
  for (size_t axis = 0; axis + 2 < shape.size(); ++axis) {
    const size_t copies = shape[axis].value(), step = size / copies;
    if (std::memcmp(bytes.data(), bytes.data() + step, size - step) != 0) break;
    kept[axis] = 1;
    size = step;
  }
  if (kept == shape) return nullptr;
  return graph.addConstant(
      graph.uniqueName(constant->name), {constant->dataType(), kept},
      std::make_shared<const ConstantData>(ConstantData{bytes.first(size), constant->constant}));
}

// A tensor of [n * period, ...] that holds n times the same; period 0: one for all batches.
struct Repeated {
  Value* once = nullptr;  // [period, ...], before it is reshaped
  int64_t period = 0;
};
static std::optional<Repeated> repeatedBatches(Value* mask) {
  if (mask->rank() < 4 || mask->shape()[0].isConstant(1)) return Repeated{mask, 0};
  const Node* reshape = producerOf(mask, &ops::Reshape);
  const Node* expand = reshape ? producerOf(reshape->input(0), &ops::Expand) : nullptr;
  if (!expand || mask->rank() != 4 || expand->output()->rank() != 5) return std::nullopt;
  const Shape &whole = expand->output()->shape(), &once = expand->input(0)->shape();
  const bool isOfBatches = std::equal(whole.begin() + 2, whole.end(), mask->shape().begin() + 1) &&
                           whole[1].isConstant() && mask->shape()[0] == whole[0] * whole[1];
  const bool isOnce = once.size() == 4 || (once.size() == 5 && once[0].isConstant(1));
  if (!isOfBatches || !isOnce || once[once.size() - 4] != whole[1]) return std::nullopt;
  return Repeated{expand->input(0), whole[1].value()};
}

// The batches after which the mask, or what a Pointwise makes it of, repeats itself; 0: it is
// another for each.
static int64_t periodOf(Value* mask) {
  const Node* node = producerOf(mask, &ops::Pointwise);
  const std::vector<Value*> operands = node ? node->inputs : std::vector{mask};
  int64_t period = 0;
  for (Value* operand : operands) {
    const std::optional<Repeated> repeated = repeatedBatches(operand);
    if (!repeated || (period > 0 && repeated->period > 0 && repeated->period != period)) return 0;
    period = std::max(period, repeated->period);
  }
  return period;
}

static bool shortenMask(Graph& graph, Node* attention) {
  auto& attrs = attention->as<AttentionAttrs>();
  Value* mask = attention->input(3);
  const int64_t period = attrs.maskBatches > 0 ? 0 : periodOf(mask);
  if (period == 0) return false;
  const auto once = [&](Value* value) {
    const Repeated repeated = *repeatedBatches(value);
    const Shape& shape = repeated.once->shape();
    return repeated.period == 0 ? value
                                : addReshape(graph, mask->name, repeated.once,
                                             Shape(shape.end() - 4, shape.end()), attention);
  };
  Value* shorter = nullptr;
  if (const Node* node = producerOf(mask, &ops::Pointwise)) {
    std::vector<Value*> operands;
    for (Value* operand : node->inputs) operands.push_back(once(operand));
    shorter = addPointwise(graph, mask->name, std::move(operands), node->as<PointwiseAttrs>().expr,
                           attention);
  } else {
    shorter = once(mask);
  }
  attrs.maskBatches = period;
  graph.setInput(attention, 3, shorter);
  if (mask->producer) graph.eraseIfDead(mask->producer);
  return true;
}

static Value* addMask(Graph& graph, const Conditions& conditions, const std::string& name,
                      Node* before) {
  Value* mask = nullptr;
  for (Value* condition : conditions.all)
    mask = mask ? addBinary(graph, ScalarOp::kAnd, name, mask, condition, before) : condition;
  return conditions.added.empty() ? mask
                                  : addPointwise(graph, name, {mask}, conditions.added, before);
}

static bool simplifyMask(Graph& graph, Node* attention) {
  if (!attention->hasInput(3)) return false;
  Value* mask = attention->input(3);
  Value* shorter = mask->isConstant() ? withoutCopies(graph, mask) : nullptr;
  if (shorter) graph.setInput(attention, 3, mask = shorter);
  std::optional<Conditions> conditions = conditionsOf(mask);
  if (!conditions) return shorter != nullptr;
  auto& attrs = attention->as<AttentionAttrs>();
  const AttentionGeometry geometry = attentionGeometry(*attention);
  const auto isSaid = [&](const Value* condition) {
    if (isAlwaysTrue(condition)) return true;
    const auto alignEnd = alignsEnd(condition, geometry);
    if (!alignEnd || (attrs.causal && attrs.alignEnd != *alignEnd)) return false;
    attrs.causal = true;
    attrs.alignEnd = *alignEnd;
    return true;
  };
  if (std::erase_if(conditions->all, isSaid) == 0) return shorter != nullptr;

  std::vector<Value*> inputs(attention->inputs.begin(), attention->inputs.begin() + 3);
  if (!conditions->all.empty())
    inputs.push_back(addMask(graph, *conditions, mask->name, attention));
  graph.setInputs(attention, std::move(inputs));
  graph.inferTypes(attention);
  if (mask->producer) graph.eraseIfDead(mask->producer);
  return true;
}

bool simplifyMasks(Graph& graph, const PassOptions&) {
  std::vector<Node*> attentions;  // nodes before them may go
  for (const auto& node : graph.nodes())
    if (node->op == &ops::Attention && !node->epilogue) attentions.push_back(node.get());
  bool changed = false;
  for (Node* attention : attentions) {
    changed |= simplifyMask(graph, attention);
    if (attention->hasInput(3)) changed |= shortenMask(graph, attention);
  }
  graph.eraseUnusedConstants();
  return changed;
}

}  // namespace camshaft
