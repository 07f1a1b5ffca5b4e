// Checks that a plan read from a file can be run without leaving its memory.
#pragma once

#include "plan/plan.h"

namespace camshaft {

// Throws Error(kInvalidEngine) naming what is out of range. A kernel's own parameters are its own
// to check when it is loaded.
void validate(const Plan& plan);

}  // namespace camshaft
