#include "passes/precision_plan.h"

#include <algorithm>

#include "ops/ops.h"
#include "ops/pointwise.h"
#include "ops/softmax.h"
#include "passes/edit.h"
#include "passes/precision_rules.h"

namespace camshaft {

namespace {

using Source = NumberFacts::Source;

bool isF32(const Value* value) { return value && value->dataType() == DataType::kF32; }

bool hasOneElement(const Value& value) { return numElements(value.shape()).isConstant(1); }

// A cast from 16 bits to f32 and nothing else: somebody wants f32 here.
bool widens(const Node& node) {
  const Expr& expr = node.as<PointwiseAttrs>().expr;
  return expr.isSingle(ScalarOp::kCast) && is16Bit(expr.inputType(0)) &&
         expr.resultType() == DataType::kF32;
}

// What the readers of a value want it to be stored as; a later one overrides an earlier one.
enum class Need { kAny, kF32, k16Bit };

Need needFor(DataType type) { return is16Bit(type) ? Need::k16Bit : Need::kF32; }

class Planner {
 public:
  Planner(const Graph& graph, const PassOptions& options)
      : graph_(graph),
        options_(options),
        narrow_(options.allowF16    ? DataType::kF16
                : options.allowBF16 ? DataType::kBF16
                                    : DataType::kF32) {}

  PrecisionPlan plan() {
    const std::vector<Node*> nodes = graph_.nodeList();
    for (const Node* node : nodes) gatherFacts(*node);
    for (const Node* node : nodes)
      if (roleOf(*node) == PrecisionRole::kProduct) plan_.nodes[node] = productTypeOf(*node);
    for (const auto& output : graph_.outputs) needs_[output.value] = Need::kF32;
    for (auto node = nodes.rbegin(); node != nodes.rend(); ++node) {
      gatherNeeds(**node);
      gatherRounded(**node);
    }
    for (const Node* node : nodes) chooseStorage(*node);
    return std::move(plan_);
  }

 private:
  // Nodes on other types are readers that take whatever comes.
  PrecisionRole roleOf(const Node& node) const {
    const PrecisionRole role = precisionRoleOf(node, options_);
    const bool typed = role == PrecisionRole::kProduct || role == PrecisionRole::kFollows;
    return typed && !isF32(node.input(0)) ? PrecisionRole::kReads : role;
  }

  // The type whose range counts, also where only requests lower anything.
  DataType limitingType() const { return is16Bit(narrow_) ? narrow_ : DataType::kF16; }

  const NumberFacts& factsFor(const Value* value) {
    const auto [it, isNew] = facts_.try_emplace(value);
    if (isNew && value->isConstant())
      it->second.huge = fitOf(*value, limitingType()).overflows > 0;
    else if (isNew)
      it->second.source = Source::kAny;
    return it->second;
  }

  // Of tensors that are not f32.
  static NumberFacts factsOfOther(const Value* value) {
    const bool isWide = value && isInteger(value->dataType()) && bitsOf(value->dataType()) > 8;
    const Node* maker = value ? value->producer : nullptr;
    const bool isSum =
        maker && (maker->op == &ops::MatMulInteger || maker->op == &ops::ConvInteger);
    return {false, isSum ? Source::kSums : isWide ? Source::kInteger : Source::kAny};
  }

  void gatherFacts(const Node& node) {
    std::vector<NumberFacts> inputs;
    NumberFacts result;
    bool isFromF32 = false;
    for (int i = 0; i < static_cast<int>(node.inputs.size()); ++i) {
      const Value* input = node.inputs[i];
      inputs.push_back(isF32(input) ? factsFor(input) : factsOfOther(input));
      if (!isF32(input) || !sharesType(node, i)) continue;
      result = combined(result, inputs.back());
      isFromF32 = true;
    }
    if (!isFromF32) result.source = Source::kAny;  // products of floats of 8 bits
    if (node.op == &ops::Pointwise) {
      const Expr& expr = node.as<PointwiseAttrs>().expr;
      const ExprFacts facts = factsOf(expr, inputs, largestFinite(limitingType()));
      if (facts.grows) growing_.insert(&node);
      result = facts;
    } else if (node.op == &ops::Range) {
      result.source = Source::kInteger;
    } else if (tamesRange(node)) {
      result = {false, Source::kAny};
    }
    for (const Value* output : node.outputs)
      if (isF32(output)) facts_[output] = result;
  }

  // The inputs of one type with the node's work, which is f32 as the graph stands.
  static std::vector<const Value*> sharedInputs(const Node& node) {
    std::vector<const Value*> inputs;
    for (int i = 0; i < node.ownInputs(); ++i)
      if (isF32(node.input(i)) && sharesType(node, i)) inputs.push_back(node.input(i));
    return inputs;
  }

  DataType productTypeOf(const Node& node) {
    if (node.precision.compute) return *node.precision.compute;
    DataType type = narrow_;
    bool fromIntegers = true, fromSums = false;
    for (const Value* input : sharedInputs(node)) {
      const NumberFacts& facts = facts_.at(input);
      fromIntegers &= facts.source != Source::kAny;
      fromSums |= facts.source == Source::kSums;
      if (!facts.huge || !is16Bit(narrow_)) continue;
      const bool fitsBF16 = options_.allowBF16 && input->isConstant() &&
                            fitOf(*input, DataType::kBF16).overflows == 0;
      type = fitsBF16 ? DataType::kBF16 : DataType::kF32;
      options_.log.verbose(describe(node), " works in ", type, " because '", input->name,
                           "' has numbers beyond the range of ", narrow_);
      if (!fitsBF16) break;
    }
    return fromIntegers || fromSums ? DataType::kF32 : type;
  }

  // Readers come first, so what is needed of the node's results is known.
  void gatherNeeds(const Node& node) {
    for (const Value* output : node.outputs) needs_.try_emplace(output, Need::kAny);
    for (int i = 0; i < static_cast<int>(node.inputs.size()); ++i) {
      if (!node.inputs[i]) continue;
      Need& need = needs_.try_emplace(node.inputs[i], Need::kAny).first->second;
      need = std::max(need, needAt(node, i));
    }
  }

  Need needOf(const Value* value, const Node& user) const {
    Need need = Need::kAny;
    for (int i = 0; i < static_cast<int>(user.inputs.size()); ++i)
      if (user.inputs[i] == value) need = std::max(need, needAt(user, i));
    return need;
  }

  Need needAt(const Node& user, int i) const {
    switch (roleOf(user)) {
      case PrecisionRole::kProduct:
        return sharesType(user, i) ? needFor(plan_.nodes.at(&user)) : Need::kAny;
      case PrecisionRole::kFollows:
        if (!sharesType(user, i)) return needsF32(user, i, options_) ? Need::kF32 : Need::kAny;
        if (user.precision.compute) return needFor(*user.precision.compute);
        return gainsFromF32(user) ? Need::kF32 : needs_.at(user.output());
      case PrecisionRole::kReads:
        return gainsFromF32(user) ? Need::kF32 : Need::kAny;
      case PrecisionRole::kPointwise:
        return Need::kAny;
      case PrecisionRole::kF32:
        return Need::kF32;
    }
    return Need::kAny;
  }

  // Readers come first here too.
  void gatherRounded(const Node& node) {
    const PrecisionRole role = roleOf(node);
    const bool isProduct = role == PrecisionRole::kProduct && is16Bit(plan_.nodes.at(&node));
    const bool passesOn =
        (role == PrecisionRole::kFollows || role == PrecisionRole::kPointwise) &&
        std::any_of(node.outputs.begin(), node.outputs.end(),
                    [&](const Value* output) { return rounded_.contains(output); });
    if (isProduct || passesOn) rounded_.insert(node.inputs.begin(), node.inputs.end());
  }

  // The eight bits of bf16 are few for what no product rounds to them, which are results and what
  // is computed last, such as coordinates; and for what scales or shifts many elements at once,
  // whose size is nothing beside theirs.
  bool gainsDigits(const Value* value) const {
    if (narrow_ != DataType::kBF16) return false;
    const auto isSpread = [&](const Node* user) {
      return roleOf(*user) == PrecisionRole::kPointwise &&
             user->output()->shape() != value->shape();
    };
    return !rounded_.contains(value) || isReadOnlyBy(value, isSpread);
  }

  void chooseStorage(const Node& node) {
    const PrecisionRole role = roleOf(node);
    if (role == PrecisionRole::kFollows) plan_.nodes[&node] = followedTypeOf(node);
    const auto type = plan_.nodes.find(&node);
    for (const Value* output : node.outputs) {
      if (!isF32(output)) continue;
      const std::optional<DataType> requested = node.precision.output(output->index);
      plan_.storage[output] = requested                           ? *requested
                              : role == PrecisionRole::kPointwise ? pointwiseTypeOf(node)
                              : type != plan_.nodes.end()         ? storedTypeOf(node, output)
                                                                  : DataType::kF32;
    }
  }

  // Of a product or of what follows its input. The casts of products ride on them.
  DataType storedTypeOf(const Node& node, const Value* output) const {
    const bool widens = roleOf(node) == PrecisionRole::kProduct && gainsDigits(output);
    return widens ? DataType::kF32 : plan_.nodes.at(&node);
  }

  template <class Condition>
  bool isReadOnlyBy(const Value* value, Condition condition) const {
    return !value->users.empty() && !graph_.isOutput(value) &&
           std::all_of(value->users.begin(), value->users.end(), condition);
  }

  // What a quantiser alone reads becomes part of it, and only bytes are stored.
  bool isQuantised(const Value* value) const {
    const Node* user = soleUser(graph_, value);
    while (user && (user->op == &ops::Transpose || user->op == &ops::Reshape))
      user = soleUser(graph_, user->output());
    return user && user->op == &ops::Pointwise && bitsOf(user->output()->dataType()) <= 8;
  }

  DataType pointwiseTypeOf(const Node& node) {
    const Value* output = node.output();
    if (node.precision.compute) return *node.precision.compute;
    if (widens(node) || isQuantised(output)) return DataType::kF32;
    // What a product rounds in any case is stored once, for all readers.
    for (const Node* user : output->users)
      if (roleOf(*user) == PrecisionRole::kProduct && needOf(output, *user) == Need::k16Bit)
        return plan_.nodes.at(user);
    const NumberFacts& facts = facts_.at(output);
    if (facts.huge) return hugeTypeOf(node);
    const bool staysF32 = needs_.at(output) == Need::kF32 || facts.areWhole() ||
                          growing_.contains(&node) || hasOneElement(*output) || gainsDigits(output);
    return staysF32 ? DataType::kF32 : narrow_;
  }

  // Softmax cannot tell the lowest number of one type from that of another, as long as it is no
  // infinity: a row that is masked as a whole would become NaN.
  DataType hugeTypeOf(const Node& node) {
    const auto isSoftmax = [](const Node* user) {
      return user->op == &ops::Softmax && user->as<SoftmaxAttrs>().kind == SoftmaxKind::kSoftmax;
    };
    if (!is16Bit(narrow_) || !isReadOnlyBy(node.output(), isSoftmax)) return DataType::kF32;
    plan_.saturating.insert(&node);
    return narrow_;
  }

  // In the type that its inputs are stored in, if they agree; else in 16 bits where that is safe. A
  // result that is wanted in f32 is computed from f32 where the casts cost nothing, because they
  // ride on products that nobody else reads.
  DataType followedTypeOf(const Node& node) {
    if (node.precision.compute) return *node.precision.compute;
    const bool wantsF32 = gainsFromF32(node) || needs_.at(node.output()) == Need::kF32;
    bool all16BitFit = true, all16BitAreFree = true, anyComputed = false, any16Bit = false;
    DataType type = narrow_;
    for (const Value* input : sharedInputs(node)) {
      if (input->isConstant()) {
        all16BitFit &= fitOf(*input, limitingType()).harmless();
        continue;
      }
      anyComputed = true;
      const auto stored = plan_.storage.find(input);
      if (stored == plan_.storage.end() || !is16Bit(stored->second)) {
        const NumberFacts& facts = facts_.at(input);
        all16BitFit &= !facts.huge && !facts.areWhole();
        continue;
      }
      if (!any16Bit || stored->second == DataType::kBF16) type = stored->second;
      any16Bit = true;
      all16BitAreFree &=
          roleOf(*input->producer) == PrecisionRole::kProduct && soleUser(graph_, input) == &node;
    }
    const bool staysF32 =
        !all16BitFit || (wantsF32 && all16BitAreFree) || (anyComputed && !any16Bit);
    return staysF32 ? DataType::kF32 : type;
  }

  const Graph& graph_;
  const PassOptions& options_;
  const DataType narrow_;                                // f32 when only requests lower anything
  std::unordered_map<const Value*, NumberFacts> facts_;  // of f32 values
  std::unordered_set<const Node*> growing_;              // ExprFacts::grows
  std::unordered_map<const Value*, Need> needs_;
  std::unordered_set<const Value*> rounded_;  // that lead to a product in 16 bits
  PrecisionPlan plan_;
};

}  // namespace

PrecisionPlan planPrecision(const Graph& graph, const PassOptions& options) {
  return Planner(graph, options).plan();
}

}  // namespace camshaft
