// Changes plans as an enemy would who knows the format.
#pragma once

#include <vector>

#include "fuzz/mutator.h"
#include "plan/plan.h"

namespace camshaft::fuzz {

// One field of the plan, or of a plan it runs as a body. `donors` are steps of other engines, whose
// kernels and parameters a file stitched together would have.
void changePlan(Random& random, Plan& plan, const std::vector<Step>& donors);

}  // namespace camshaft::fuzz
