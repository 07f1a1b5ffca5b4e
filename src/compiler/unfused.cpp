#include "compiler/unfused.h"

#include <algorithm>

#include "compiler/optimize.h"
#include "ops/observe.h"
#include "plan/planner.h"

namespace camshaft {
namespace {

bool isObserved(const Value* value) {
  return std::ranges::any_of(value->users,
                             [](const Node* user) { return user->op == &ops::Observe; });
}

}  // namespace

void observeUnfused(Graph& graph, const CompileOptions& outside, const BuildBackend& backend) {
  CompileOptions options = outside;
  options.progress = nullptr;
  options.dump = nullptr;
  options.log = {};
  Graph optimized = graph.clone();
  optimize(optimized, options, backend);
  for (Node* node : graph.nodeList())
    for (Value* value : node->outputs) {
      const Value* stored = optimized.find(value->name);
      const bool isStored = stored && stored->producer && !isView(*stored->producer);
      if (!isStored || stored->type != value->type || graph.isOutput(value) || isObserved(value))
        continue;
      ObserveAttrs attrs;
      attrs.tensor = value->name;
      attrs.isUnfused = true;
      addObserve(graph, value, std::move(attrs));
    }
}

}  // namespace camshaft
