// What an engine is made of, for people and for machines.
#pragma once

#include <string>

#include "plan/plan.h"

namespace camshaft {

std::string typeText(DataType type);  // "FP32", "Int8": as TensorRT writes them

// By the plan's verbosity: names alone, nothing, or everything there is. `profile` may be a copy
// with sizes filled in.
std::string layerLine(const Plan& plan, const Step& step);
std::string layerJson(const Plan& plan, const ProfilePlan& profile, const Step& step);
std::string engineText(const Plan& plan, const ProfilePlan& profile);
std::string engineJson(const Plan& plan, const ProfilePlan& profile);

}  // namespace camshaft
