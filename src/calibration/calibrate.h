// Runs a network on data and looks at every tensor of it.
#pragma once

#include <functional>
#include <span>

#include "calibration/cache.h"
#include "compiler/compile.h"

namespace camshaft {

// Writes the address of each input's data, in the order of the graph's inputs, and says whether
// there is a batch. Real numbers are f32 there whatever the input's type, all else is as it is; on a
// device, data may lie in its memory or on the host.
using NextBatch = std::function<bool(std::span<const void*> inputs)>;

// Histograms of all tensors of real numbers, by name, over all batches, in one pass over each. The
// network is built in f32, for the options' device and the opt shapes of their first profile, which
// batches have. Throws Error where there is no batch.
TensorHistograms gatherHistograms(Graph graph, CompileOptions options, const NextBatch& next);

}  // namespace camshaft
