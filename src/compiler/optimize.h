// The passes as a build runs them.
#pragma once

#include "backend/kernel.h"
#include "compiler/compile.h"

namespace camshaft {

// Reports to the options' log, dump and progress monitor, where its phase lies in `parent`.
void optimize(Graph& graph, const CompileOptions& options, const BuildBackend& backend,
              std::string_view parent = {});

}  // namespace camshaft
