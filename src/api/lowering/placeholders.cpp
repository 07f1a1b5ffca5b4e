#include "api/lowering/placeholders.h"

#include <algorithm>

#include "ops/rules.h"

namespace camshaft::api {

namespace {

using Types = std::vector<TensorType>;

Types inferNothing(const Node&) { return {}; }
Types inferSame(const Node& node) { return {node.input(0)->type}; }

Types inferSized(const Node& node) {
  return {{node.input(0)->dataType(), node.as<BoundaryAttrs>().sizes}};
}

Types inferIterator(const Node& node) {
  TensorType type = node.input(0)->type;
  const int64_t axis = node.as<BoundaryAttrs>().axis;
  requireAxis(node, axis);
  type.shape.erase(type.shape.begin() + axis);
  return {std::move(type)};
}

Types inferLoopOutput(const Node& node) {
  TensorType type = node.input(0)->type;
  const auto& attrs = node.as<BoundaryAttrs>();
  if (!attrs.sizes.empty()) type.shape.insert(type.shape.begin() + attrs.axis, attrs.sizes[0]);
  return {std::move(type)};
}

std::optional<std::vector<Dim>> sameContents(const Node& node) { return node.input(0)->contents; }

std::vector<Dim> definedSymbols(const Attrs& attrs) {
  return static_cast<const BoundaryAttrs&>(attrs).symbols;
}

void evaluateNothing(const Evaluation& evaluation) {
  fail(ErrorKind::kInternal, describe(evaluation.node), " was left in a graph that runs");
}

OpInfo placeholder(std::string_view name, int inputs, int outputs, Types (*infer)(const Node&)) {
  return {name, inputs, inputs, outputs, makeAttrsOf<BoundaryAttrs>, infer, evaluateNothing};
}

}  // namespace

namespace placeholders {

const OpInfo Condition = placeholder("Condition", 1, 0, inferNothing);
const OpInfo ConditionalInput = [] {
  OpInfo info = placeholder("ConditionalInput", 1, 1, inferSame);
  info.contents = sameContents;
  return info;
}();
const OpInfo ConditionalOutput = [] {
  OpInfo info = placeholder("ConditionalOutput", 2, 1, inferSized);
  info.defines = definedSymbols;
  return info;
}();
const OpInfo TripLimit = placeholder("TripLimit", 1, 0, inferNothing);
const OpInfo Recurrence = placeholder("Recurrence", 1, 1, inferSame);
const OpInfo Next = placeholder("Next", 2, 0, inferNothing);
const OpInfo Iterator = placeholder("Iterator", 1, 1, inferIterator);
const OpInfo LoopOutput = placeholder("LoopOutput", 1, 1, inferLoopOutput);
const OpInfo Pending = placeholder("Pending", 1, 1, inferSized);

}  // namespace placeholders

const BoundaryAttrs* boundaryOf(const Node& node) {
  namespace p = placeholders;
  static const Op kAll[] = {&p::Condition, &p::ConditionalInput, &p::ConditionalOutput,
                            &p::TripLimit, &p::Recurrence,       &p::Next,
                            &p::Iterator,  &p::LoopOutput};
  const bool isOne = std::find(std::begin(kAll), std::end(kAll), node.op) != std::end(kAll);
  return isOne ? &node.as<BoundaryAttrs>() : nullptr;
}

}  // namespace camshaft::api
