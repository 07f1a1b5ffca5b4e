#include "ops/byte_quotient.h"

#include <cmath>
#include <limits>

#include "support/half.h"

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

// Both functions of x never fall, so they agree everywhere if each step from one result to the next
// lies between the same two floats. The step at the quotient `middle` leads to where isAbove(it).
template <class IsAbove>
bool agreesAt(double middle, float scale, const Reciprocal& r, IsAbove isAbove) {
  auto first = static_cast<float>(middle * static_cast<double>(scale));
  while (isAbove(first / scale)) first = std::nextafter(first, -kInfinity);
  while (!isAbove(first / scale)) first = std::nextafter(first, kInfinity);
  const float last = std::nextafter(first, -kInfinity);
  return isAbove(quotient(first, r)) && !isAbove(quotient(last, r));
}

// Negative quotients are the positive ones' mirror image.
template <class Float8>
bool agreesAtAllSteps(uint8_t largest, float scale, const Reciprocal& r) {
  const auto valueOf = [](int bits) {
    return static_cast<float>(Float8::fromBits(static_cast<uint8_t>(bits)));
  };
  for (int bits = 0; bits < largest; ++bits) {
    const double middle = (static_cast<double>(valueOf(bits)) + valueOf(bits + 1)) / 2;
    if (!agreesAt(middle, scale, r, [&](float q) { return Float8(q).bits > bits; })) return false;
  }
  return true;
}

}  // namespace

std::optional<Reciprocal> reciprocalFor(float scale, const ByteRange& bytes) {
  const std::optional<Reciprocal> r = splitReciprocal(scale);
  if (!r) return std::nullopt;
  for (int n = bytes.lowest() - bytes.zero; n < bytes.highest() - bytes.zero; ++n)
    if (!agreesAt(n + 0.5, scale, *r,
                  [&](float q) { return std::rint(q) > static_cast<float>(n); }))
      return std::nullopt;
  return r;
}

std::optional<Reciprocal> reciprocalFor(float scale, DataType float8) {
  const std::optional<Reciprocal> r = splitReciprocal(scale);
  if (!r) return std::nullopt;
  const bool agrees = float8 == DataType::kF8E4M3 ? agreesAtAllSteps<Float8E4M3>(0x7e, scale, *r)
                                                  : agreesAtAllSteps<Float8E5M2>(0x7b, scale, *r);
  return agrees ? r : std::nullopt;
}

}  // namespace camshaft
