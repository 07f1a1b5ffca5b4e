// A layer's candidates as others see them: a selector, and whoever edits a timing cache.
#pragma once

#include "tuner/candidates.h"
#include "tuner/selector.h"

namespace camshaft {

LayerFacts factsOf(const Node& node, std::string name, const BuildContext& context);
Tactic tacticOf(const Candidate& candidate, const BuildContext& context);

// Names a kernel and its configuration in timing caches.
uint64_t tacticHashOf(const Candidate& candidate);

// The lines of the verbose log by which users find the key of a layer and the hashes of its
// kernels. Their form is what programs for TensorRT look for.
void logTactics(const Log& log, const std::string& layer, const ChoiceKey& key,
                std::span<const Candidate> candidates, const Candidate& taken);

}  // namespace camshaft
