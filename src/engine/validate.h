// Checks that a plan read from a file can be run without leaving its memory.
#pragma once

#include <string>

#include "plan/plan.h"

namespace camshaft {

// What is out of range, in words that name the layer: "layer 'x': an operand lies outside the
// arena". Empty when nothing is. A kernel's own parameters are its own to check when it is loaded.
std::string faultOf(const Plan& plan);

}  // namespace camshaft
