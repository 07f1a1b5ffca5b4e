// What the elements of a tensor lie between, as far as the operators that compute it tell.
#pragma once

#include <limits>

#include "ir/graph.h"

namespace camshaft {

struct Interval {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
};

// Sound up to rounding, and loose where many tensors meet: relu, sigmoid, hard-swish and their like
// are seen through what moves, pools or joins their results.
Interval intervalOf(const Value* value);

}  // namespace camshaft
