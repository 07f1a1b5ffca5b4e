// Outputs that may be written over inputs, as caches are updated in place.
#pragma once

#include "plan/planner.h"

namespace camshaft {

// Notes which outputs may lie on inputs that they take the place of, where the two are alike.
void offerAliases(const Graph& graph, Plan& plan);

// For each output the input that the kernel which writes it may overwrite, or -1.
std::vector<int32_t> overwrittenInputs(const Graph& graph, std::span<const ChosenKernel> chosen);

// Takes back what is offered and not so in a profile: the kernel does not work in place, or a step
// reads the input afterwards.
void keepAliases(const std::vector<int32_t>& overwritten, const ProfilePlan& profile,
                 std::vector<IoTensor>& outputs);

}  // namespace camshaft
