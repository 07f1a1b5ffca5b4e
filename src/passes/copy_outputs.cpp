// Every graph output gets a value of its own that a node computes, since each is written to a
// buffer of the caller's.
//
//   output "y" = graph input, constant, or the value of another output   →   output "y" = Identity(that)
#include <set>

#include "ops/ops.h"
#include "passes/passes.h"

namespace camshaft {

bool copyOutputs(Graph& graph, const PassOptions&) {
  std::set<const Value*> taken;
  bool changed = false;
  for (Graph::Output& output : graph.outputs) {
    if (output.value->producer && taken.insert(output.value).second) continue;
    output.value = graph.add(&ops::Identity, output.name, {output.value}, NoAttrs{})->output();
    taken.insert(output.value);
    changed = true;
  }
  return changed;
}

}  // namespace camshaft
