// Checks that a plan read from a file can be run without leaving its memory.
#pragma once

#include <cstddef>
#include <string>

#include "plan/plan.h"

namespace camshaft {

// The most dimensions that a tensor of a plan has: whoever runs one has room for these.
inline constexpr size_t kMostDims = 8;

// What is out of range, in words that name the layer: "layer 'x': an operand lies outside the
// arena". Empty when nothing is. A kernel's own parameters are its own to check when it is loaded.
std::string faultOf(const Plan& plan);

}  // namespace camshaft
