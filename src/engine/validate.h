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

// The same of the record in a plan. What the graph's text says is checked when it is parsed.
std::string faultOf(const RefitRecord& record);

// Bytes of a tensor of fixed size; -1 where it is none, or larger than anything is.
int64_t fixedBytesOf(const TensorDesc& tensor);

}  // namespace camshaft
