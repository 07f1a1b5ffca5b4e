// Whether steps that do not need one another gain from running side by side.
#pragma once

#include "compiler/compile.h"
#include "plan/plan.h"

namespace camshaft {

// Runs each profile of a GPU's plan at its opt shapes, with its branches one after the other and
// side by side, and notes the faster way in the plan. Plans that need the host, or values of inputs
// to know their sizes, stay as they are. A phase of the build, in `parent`.
void chooseBranches(Plan& plan, const CompileOptions& options, std::string_view parent);

}  // namespace camshaft
