// What the passes may do in 16 bits, from what the build allows and its device gains from.
#pragma once

#include "backend/kernel.h"
#include "compiler/compile.h"
#include "passes/pass.h"

namespace camshaft {

// What f32 products may round their operands to: what the backend makes of 16-bit types, or f32.
DataType productTypeOf(const CompileOptions& options, const BuildBackend& backend);

// Leaves in the graph those requests that are to be kept, and allows the passes what helps on the
// device. Throws Error naming the node when a request that must be obeyed cannot be.
void settlePrecision(Graph& graph, const CompileOptions& options, const BuildBackend& backend,
                     PassOptions& passOptions);

}  // namespace camshaft
