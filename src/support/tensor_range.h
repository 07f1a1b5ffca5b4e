// What the elements of a tensor are to be represented between; what lies outside is clipped.
#pragma once

#include <map>
#include <string>

namespace camshaft {

struct TensorRange {
  float min = 0, max = 0;
};
using TensorRanges = std::map<std::string, TensorRange, std::less<>>;  // by name

}  // namespace camshaft
