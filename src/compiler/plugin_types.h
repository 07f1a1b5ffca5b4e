// Plugins that take other types than the network has.
#pragma once

#include "compiler/compile.h"

namespace camshaft {

// Where 16 bits are allowed, plugins that do not take the types around them get casts, if there is
// one type of real numbers that they take. What stays unfit is refused when kernels are chosen.
void castAroundPlugins(Graph& graph, const CompileOptions& options);

}  // namespace camshaft
