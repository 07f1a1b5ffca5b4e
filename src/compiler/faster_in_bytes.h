// Whether a product is done sooner in 8-bit integers.
#pragma once

#include <functional>

#include "compiler/compile.h"

namespace camshaft {

// Times the product alone both ways, with the kernels that the build would choose at the sizes of
// the first profile's opt: in real numbers, of the type that the build stores them in, and to bytes
// from bytes, or from what becomes bytes for it. Products alike are timed once. Null where the
// build times nothing.
std::function<bool(const Node& product, bool isStoredAsBytes)> fasterInBytes(
    const Graph& graph, const CompileOptions& options, const BuildBackend& backend);

}  // namespace camshaft
