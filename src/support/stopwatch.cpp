#include "support/stopwatch.h"

#include <algorithm>

#include "support/error.h"

namespace camshaft {

double median(std::vector<double> values) {
  CAMSHAFT_CHECK(!values.empty());
  const auto middle = values.begin() + static_cast<ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*std::max_element(values.begin(), middle) + *middle) / 2;
}

}  // namespace camshaft
