#include "compiler/shape_inputs.h"

#include <algorithm>

#include "ops/contents.h"
#include "ops/shape.h"
#include "ops/symbols.h"
#include "passes/passes.h"
#include "support/error.h"

namespace camshaft {
namespace {

// What all profiles allow for the values together, element by element; none where one has no say.
std::vector<DimRange> boundsOf(const Value& input, size_t count,
                               const std::vector<ShapeProfile>& profiles) {
  std::vector<DimRange> bounds(count, DimRange{DimRange::kUnbounded, 0});
  for (const ShapeProfile& profile : profiles) {
    const auto given = profile.shapeValues.find(input.name);
    if (given == profile.shapeValues.end()) return {};
    const InputRange& range = given->second;
    if (range.min.size() != count || range.max.size() != count || range.opt.size() != count)
      fail(ErrorKind::kInvalidArgument, "the profile gives shape tensor '", input.name, "' ",
           range.max.size(), " values where it has ", count);
    for (size_t i = 0; i < count; ++i) {
      if (range.min[i] > range.opt[i] || range.opt[i] > range.max[i])
        fail(ErrorKind::kInvalidArgument, "the profile of shape tensor '", input.name,
             "' needs min <= opt <= max for element ", i, " and has ", range.min[i], ", ",
             range.opt[i], ", ", range.max[i]);
      bounds[i] = {std::min(bounds[i].min, range.min[i]), std::max(bounds[i].max, range.max[i])};
    }
  }
  return profiles.empty() ? std::vector<DimRange>() : bounds;
}

Node* bindingOf(const Graph& graph, const Value& input) {
  for (Node* user : input.users)
    if (user->op == &ops::BindDims && !isAssertion(graph, *user)) return user;
  return nullptr;
}

// Other bindings of the input have the same values.
void mergeBindings(Graph& graph, Value& input, const Node* kept) {
  const std::vector<Dim> symbols = kept->as<BindDimsAttrs>().symbols;
  for (Node* user : std::vector<Node*>(input.users.begin(), input.users.end())) {
    if (user == kept || user->op != &ops::BindDims || isAssertion(graph, *user)) continue;
    std::map<std::string, Dim> same;
    const std::vector<Dim>& others = user->as<BindDimsAttrs>().symbols;
    for (size_t i = 0; i < others.size(); ++i) same.emplace(others[i].symbolName(), symbols[i]);
    graph.erase(user);
    substituteSymbols(graph, [&](const std::string& name) {
      const auto it = same.find(name);
      return it == same.end() ? Dim::symbol(name) : it->second;
    });
    for (const auto& [name, symbol] : same) graph.symbols.erase(name);
  }
}

}  // namespace

void bindShapeInputs(Graph& graph, const std::vector<ShapeProfile>& profiles) {
  removeDead(graph, {});  // bindings that nobody needs name nothing
  bool changed = false;
  for (Value* input : graph.inputs) {
    const auto count = contentCount(input->type);
    const bool isIndex = input->dataType() == DataType::kI64 || input->dataType() == DataType::kI32;
    if (!count || *count == 0 || !isIndex) continue;
    const std::vector<DimRange> bounds = boundsOf(*input, static_cast<size_t>(*count), profiles);
    const bool hasMarks = std::ranges::any_of(
        input->users, [](const Node* user) { return user->op == &ops::ReshapeDims; });
    const int64_t least = hasMarks ? 1 : 0;  // 0 may stand for the size that is there
    if (std::ranges::any_of(bounds, [&](const DimRange& range) { return range.min < least; }))
      continue;
    Node* binding = bindingOf(graph, *input);
    if (!binding && bounds.empty()) continue;
    if (!binding) {
      contentsOf(graph, input, input->name);
      binding = bindingOf(graph, *input);
    }
    mergeBindings(graph, *input, binding);
    if (graph.nodes().front().get() != binding)
      graph.moveBefore(binding, graph.nodes().front().get());
    input->contents = binding->as<BindDimsAttrs>().symbols;
    for (size_t i = 0; i < bounds.size(); ++i) {
      DimRange& known = graph.symbols.at((*input->contents)[i].symbolName()).range;
      known = {std::max(known.min, bounds[i].min), std::min(known.max, bounds[i].max)};
    }
    changed = true;
  }
  if (!changed) return;
  settleBounds(graph);
  graph.inferAllTypes();
}

}  // namespace camshaft
