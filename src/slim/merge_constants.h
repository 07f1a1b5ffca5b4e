#pragma once

#include "passes/pass.h"

namespace camshaft {

// Sums with several constants become sums with one, and so do products.
bool mergeConstants(Graph& graph, const PassOptions& options);

// Sums and products with a constant row leave the reshape behind a matrix product, and products the
// sum behind it, to where they can go into its weights and bias.
bool hoistRows(Graph& graph, const PassOptions& options);

}  // namespace camshaft
