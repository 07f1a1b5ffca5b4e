#include "ops/byte_quotient.h"

#include <cmath>
#include <limits>

namespace camshaft {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// As kernels compute it: two roundings.
float quotient(float x, const Reciprocal& r) {
  const volatile float rest = x * r.low;  // volatile: never one operation with the next
  return std::fma(x, r.high, rest);
}

// The reciprocal's first part is rounded down, so that the second is positive: both products of an
// infinite x are that infinity.
std::optional<Reciprocal> splitReciprocal(float scale) {
  constexpr float kSmallest = 0x1p-100f, kLargest = 0x1p100f;
  if (!(scale >= kSmallest && scale <= kLargest)) return std::nullopt;
  Reciprocal r{};
  r.high = static_cast<float>(1 / static_cast<double>(scale));
  if (std::fma(static_cast<double>(r.high), static_cast<double>(scale), -1.0) > 0)
    r.high = std::nextafter(r.high, 0.0f);
  const double missing = std::fma(-static_cast<double>(r.high), static_cast<double>(scale), 1.0);
  r.low = static_cast<float>(missing / static_cast<double>(scale));
  if (!(r.low > 0)) return std::nullopt;
  return r;
}

}  // namespace

// Both functions of x never fall, so they agree everywhere if each step from one byte to the next
// lies between the same two floats.
std::optional<Reciprocal> reciprocalFor(float scale, const ByteRange& bytes) {
  const std::optional<Reciprocal> r = splitReciprocal(scale);
  if (!r) return std::nullopt;
  for (int n = bytes.lowest() - bytes.zero; n < bytes.highest() - bytes.zero; ++n) {
    const auto isAbove = [&](float x) { return std::rint(x / scale) > static_cast<float>(n); };
    auto first = static_cast<float>((n + 0.5) * static_cast<double>(scale));
    while (isAbove(first)) first = std::nextafter(first, -kInfinity);
    while (!isAbove(first)) first = std::nextafter(first, kInfinity);
    const float last = std::nextafter(first, -kInfinity);
    if (std::rint(quotient(first, *r)) <= static_cast<float>(n) ||
        std::rint(quotient(last, *r)) > static_cast<float>(n))
      return std::nullopt;
  }
  return r;
}

}  // namespace camshaft
