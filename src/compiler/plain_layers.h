// Layers that no fast kernel takes.
#pragma once

#include <span>

#include "plan/planner.h"
#include "plan/profile.h"
#include "support/log.h"

namespace camshaft {

// Warns of each layer that runs on the reference kernel, which computes one element after the other
// on one thread, unless its tensors are tiny, with its share of the network's work: of the time
// where all layers were timed, else of the elements read and written at the profile's opt shapes.
void warnOfPlainLayers(std::span<const ChosenKernel> chosen, const Graph& graph,
                       const ResolvedProfile& profile, const Log& log);

}  // namespace camshaft
