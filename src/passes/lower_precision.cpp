// f32 graphs get 16-bit products and 16-bit storage, where the build allows it or nodes ask for it.
//
//   %c = Conv(%x, %w)                                   x: f32, an input of the graph
//   %y = Pointwise(%c, %r) {relu(add(x0, x1))}
//   →
//   %h = Pointwise(%x) {cast(x0:f32, f16)}
//   %c = Conv(%h, %w_f16)                               16-bit operands and result, sums in f32
//   %y = Pointwise(%c, %r) {cast(relu(add(cast(x0:f16, f32), cast(x1:f16, f32))), f16)}
//
// Kernels compute in f32 inside whatever type they store, so a type is a question of storage, and
// precision_plan.cpp answers it. Pointwise nodes convert inside their expressions; only products
// and nodes that pass a type on need casts of their own, at the borders of the graph for the most
// part. Nodes whose data is not f32 to begin with are left as they are.
#include <algorithm>
#include <map>
#include <numeric>

#include "ir/rewrite.h"
#include "ops/ops.h"
#include "ops/pointwise.h"
#include "passes/passes.h"
#include "passes/precision_plan.h"
#include "passes/precision_rules.h"

namespace camshaft {

namespace {

std::vector<int> identity(int count) {
  std::vector<int> numbers(static_cast<size_t>(count));
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

Expr withInputCast(const Expr& expr, int index, DataType stored) {
  Expr cast;
  cast.cast(cast.input(0, stored), expr.inputType(index));
  return expr.composed(index, cast, {index}, identity(expr.inputCount()));
}

Expr withResultCast(const Expr& expr, DataType type, bool saturate) {
  Expr cast;
  int result = cast.input(0, expr.resultType());
  if (saturate) {
    const double limit = largestFinite(type);
    result = cast.apply(ScalarOp::kMax, result, cast.constant(-limit, expr.resultType()));
    result = cast.apply(ScalarOp::kMin, result, cast.constant(limit, expr.resultType()));
  }
  cast.cast(result, type);
  return cast.composed(0, expr, identity(expr.inputCount()), {0});
}

class PrecisionLowering {
 public:
  PrecisionLowering(Graph& graph, const PassOptions& options)
      : graph_(graph), options_(options), plan_(planPrecision(graph, options)) {}

  bool run() {
    for (Node* node : graph_.nodeList()) {
      if (node->op == &ops::Pointwise)
        rewriteExpr(node);
      else
        convertInputs(node);
      graph_.inferTypes(node);
      for (Value* output : std::vector<Value*>(node->outputs)) storeAsPlanned(output);
    }
    for (size_t i = 0; i < graph_.outputs.size(); ++i)
      if (Value* value = graph_.outputs[i].value; wasF32(value))
        graph_.setOutput(i, as(value, DataType::kF32));
    graph_.eraseUnusedConstants();
    return changed_;
  }

 private:
  bool wasF32(const Value* value) const {
    return value->dataType() == DataType::kF32 || plan_.storage.contains(value);
  }

  void convertInputs(Node* node) {
    const auto planned = plan_.nodes.find(node);
    for (int i = 0; i < static_cast<int>(node->inputs.size()); ++i) {
      Value* input = node->inputs[i];
      if (!input || !wasF32(input)) continue;
      if (planned != plan_.nodes.end() && sharesType(*node, i)) {
        if (planned->second == DataType::kBF16 && isBias(*node, i)) continue;
        setInput(node, i, as(input, planned->second));
      } else if (needsF32(*node, i, options_))
        setInput(node, i, as(input, DataType::kF32));
    }
  }

  void setInput(Node* node, int i, Value* value) {
    if (node->inputs[i] == value) return;
    graph_.setInput(node, i, value);
    changed_ = true;
  }

  void rewriteExpr(Node* node) {
    Expr& expr = node->as<PointwiseAttrs>().expr;
    const auto stored = plan_.storage.find(node->output());
    const DataType type = stored == plan_.storage.end() ? expr.resultType() : stored->second;
    const bool narrows = type != expr.resultType();
    for (int i = 0; i < static_cast<int>(node->inputs.size()); ++i) {
      Value* input = node->inputs[i];
      if (narrows && isWorthNarrowing(*input, *node->output(), type))
        setInput(node, i, as(input, type));
      if (node->inputs[i]->dataType() != expr.inputType(i))
        expr = withInputCast(expr, i, node->inputs[i]->dataType());
    }
    if (!narrows) return;
    expr = withResultCast(expr, type, plan_.saturating.contains(node));
    changed_ = true;
  }

  // Of bf16 only what is as large as the result: the digits of a bias count for more than its size.
  static bool isWorthNarrowing(const Value& value, const Value& result, DataType type) {
    if (type == DataType::kBF16 && value.shape() != result.shape()) return false;
    return value.isConstant() && value.dataType() == DataType::kF32 && is16Bit(type) &&
           value.constant->bytes.size() > sizeof(float) && fitOf(value, type).harmless();
  }

  // A node that cannot store in the planned type itself has a cast after it.
  void storeAsPlanned(Value* value) {
    const auto stored = plan_.storage.find(value);
    if (stored == plan_.storage.end() || stored->second == value->dataType()) return;
    const DataType type = stored->second;
    const std::string name = value->name;
    Value* cast = addCast(graph_, name, value, type, graph_.next(value->producer));
    graph_.replaceUses(value, cast);
    graph_.setInput(cast->producer, 0, value);
    graph_.rename(value, graph_.uniqueName(str(name, "_", toString(value->dataType()))));
    graph_.rename(cast, name);
    cast->producer->name = value->producer->name;
    plan_.storage[cast] = type;
    changed_ = true;
  }

  // The value in this type: itself, or a cast or rounded constant that all its readers share.
  Value* as(Value* value, DataType type) {
    if (value->dataType() == type) return value;
    Value*& converted = converted_[{value, type}];
    if (converted) return converted;
    if (value->isConstant()) {
      reportLosses(*value, type);
      converted = addRounded(graph_, *value, type);
    } else {
      converted = addCast(graph_, str(value->name, "_", toString(type)), value, type,
                          insertionPointAfter(graph_, value));
    }
    changed_ = true;
    return converted;
  }

  void reportLosses(const Value& constant, DataType type) const {
    if (!options_.log.enabled(Severity::kVerbose)) return;
    const ConstantFit fit = fitOf(constant, type);
    if (fit.overflows > 0)
      options_.log.verbose(fit.overflows, " elements of '", constant.name,
                           "' are beyond the range of ", type, " and become its largest number");
    if (fit.vanishes > 0)
      options_.log.verbose(fit.vanishes, " elements of '", constant.name, "' are too small for ",
                           type, " and become zero");
  }

  Graph& graph_;
  const PassOptions& options_;
  PrecisionPlan plan_;
  std::map<std::pair<const Value*, DataType>, Value*> converted_;
  bool changed_ = false;
};

}  // namespace

bool lowerPrecision(Graph& graph, const PassOptions& options) {
  const bool asked = options.allowF16 || options.allowBF16 ||
                     std::any_of(graph.nodes().begin(), graph.nodes().end(),
                                 [](const auto& node) { return !node->precision.empty(); });
  return asked && PrecisionLowering(graph, options).run();
}

}  // namespace camshaft
