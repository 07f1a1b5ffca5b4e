#include "accuracy/errors.h"

#include <cmath>
#include <cstring>
#include <limits>

#include "ir/dispatch.h"

namespace camshaft {

void ErrorMeter::add(const OutputTensor& expected, const OutputTensor& actual) {
  if (expected.dims != actual.dims || expected.type != actual.type) {
    isBroken_ = true;
    return;
  }
  const int64_t elements = countOf(expected.dims);
  if (!isFloat(expected.type)) {
    signal_ += static_cast<double>(elements);
    for (int64_t i = 0; i < elements; ++i)
      noise_ += readElement(expected.type, expected.bytes.data(), i) !=
                readElement(actual.type, actual.bytes.data(), i);
    return;
  }
  for (int64_t i = 0; i < elements; ++i) {
    const double wanted = readElement(expected.type, expected.bytes.data(), i);
    const double given = readElement(actual.type, actual.bytes.data(), i);
    if (std::isfinite(wanted) && std::isfinite(given)) {
      signal_ += wanted * wanted;
      noise_ += (wanted - given) * (wanted - given);
    } else {
      isBroken_ |= !(wanted == given || (std::isnan(wanted) && std::isnan(given)));
    }
  }
}

double ErrorMeter::error() const {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (isBroken_) return kInfinity;
  if (noise_ == 0) return 0;
  return signal_ == 0 ? kInfinity : std::sqrt(noise_ / signal_);
}

}  // namespace camshaft
