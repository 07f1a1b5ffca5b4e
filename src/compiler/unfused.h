// Which tensors of a network are stored though nobody asked for them.
#pragma once

#include "backend/kernel.h"
#include "compiler/compile.h"

namespace camshaft {

// Observes the tensors of the graph that are still there under their names after the passes, and
// that are neither outputs nor observed already. Costs a second run of the passes, on a copy; what
// is fused without this is fused with it.
void observeUnfused(Graph& graph, const CompileOptions& options, const BuildBackend& backend);

}  // namespace camshaft
