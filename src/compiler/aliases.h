// Outputs that may be written over inputs, as caches are updated in place.
#pragma once

#include <map>
#include <string>

#include "plan/planner.h"

namespace camshaft {

// Notes which outputs are asked to lie on inputs, by their names, where the two are alike.
void askForAliases(const std::map<std::string, std::string>& aliases, Plan& plan);

// For each output the input that the kernel which writes it may overwrite, or -1.
std::vector<int32_t> overwrittenInputs(const Graph& graph, std::span<const ChosenKernel> chosen);

// Takes back what is asked and not so in a profile: the kernel does not work in place, or a step
// reads the input afterwards.
void keepAliases(const std::vector<int32_t>& overwritten, const ProfilePlan& profile,
                 std::vector<IoTensor>& outputs);

}  // namespace camshaft
