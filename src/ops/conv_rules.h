// What Conv and ConvInteger share.
#pragma once

#include <vector>

#include "ir/graph.h"

namespace camshaft {

// Shape of a convolution of inputs 0 and 1 with ConvAttrs. Throws when they do not fit.
Shape convShape(const Node& node);

// The convolution itself; no bias when it is empty.
std::vector<double> convolveReals(const Evaluation& evaluation, const std::vector<double>& input,
                                  const std::vector<double>& weights,
                                  const std::vector<double>& bias);

}  // namespace camshaft
