// The bodies of If and Loop nodes: each is optimised and planned like a network of its own, for the
// device of the one it lies in, and shares the weights of that. Bodies that only compute sizes are
// for the host.
#pragma once

#include "compiler/compile.h"
#include "plan/planner.h"
#include "tuner/choose.h"

namespace camshaft {

// Runs the passes on the bodies in the graph, and on those in these.
void optimizeBodies(Graph& graph, const CompileOptions& options);

// What a progress monitor is told of it.
struct PhaseNames {
  std::string name, parent;
};

// Plans the bodies for one profile of the graph they lie in, and appends them to `plans`. `choose`
// are the options for the graph around them.
BodyPlans planBodies(const Graph& graph, const ResolvedProfile& profile,
                     const CompileOptions& options, const ChooseOptions& choose,
                     WeightsBuilder& weights, std::vector<std::shared_ptr<Plan>>& plans,
                     const PhaseNames& phaseNames = {});

}  // namespace camshaft
