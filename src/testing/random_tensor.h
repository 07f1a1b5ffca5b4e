// For tests: random operands of any type.
#pragma once

#include <random>
#include <utility>

#include "ops/evaluate.h"
#include "ops/select.h"

namespace camshaft {

// Floats from a standard normal distribution, or evenly from `range` where there is one; integers
// from it or from -20 (0 where there is no sign) to 40.
inline void fillRandom(HostTensor& tensor, std::mt19937& generator,
                       const std::pair<double, double>* range) {
  if (isPacked(tensor.type)) {
    for (std::byte& byte : tensor.bytes) byte = static_cast<std::byte>(generator());
    return;
  }
  const double low = range ? range->first : isSigned(tensor.type) ? -20 : 0;
  const double high = range ? range->second : 40;
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> real(low, high);
  std::uniform_int_distribution<int64_t> integer(static_cast<int64_t>(low),
                                                 static_cast<int64_t>(high));
  const auto next = [&] {
    if (tensor.type == DataType::kBool) return static_cast<double>(generator() & 1);
    if (!isFloat(tensor.type)) return static_cast<double>(integer(generator));
    return range ? real(generator) : normal(generator);
  };
  for (int64_t i = 0; i < tensor.count(); ++i)
    writeElement(tensor.type, tensor.view().data, i, next());
}

}  // namespace camshaft
