#include "ops/byte_quotient.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "support/half.h"

namespace camshaft {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// The definition: round to even, add, saturate; NaN is 0.
int byteOf(float quotient, const ByteRange& bytes) {
  if (std::isnan(quotient)) return 0;
  const float whole = std::rint(quotient) + static_cast<float>(bytes.zero);
  return static_cast<int>(std::fmin(std::fmax(whole, bytes.lowest()), bytes.highest()));
}

int byReciprocal(float x, const Reciprocal& r, const ByteRange& bytes) {
  const volatile float rest = x * r.low;
  return byteOf(std::fma(x, r.high, rest), bytes);
}

// Random scales, those of which reciprocals are hardest to round, and those that models have.
std::vector<float> someScales(int count) {
  std::vector<float> scales = {0.1f,
                               0.3f,
                               1.0f / 255,
                               0.0235294122f,
                               std::nextafter(2.0f, 0.0f),
                               std::nextafter(1.0f, 0.0f),
                               std::nextafter(1.0f, 2.0f),
                               std::nextafter(0.5f, 0.0f),
                               1.5f,
                               0x1.555556p-8f};
  std::mt19937 random(7);
  std::uniform_real_distribution<float> exponent(-30, 20);
  for (int i = 0; i < count; ++i) scales.push_back(std::exp2(exponent(random)));
  return scales;
}

// Numbers around each place where a byte ends and the next begins, and others.
template <class F>
void forEachNumber(float scale, std::mt19937& random, F visit) {
  constexpr int kAround = 12;
  for (int n = -260; n < 260; ++n) {
    auto x = static_cast<float>((n + 0.5) * static_cast<double>(scale));
    for (int i = 0; i < kAround; ++i) x = std::nextafter(x, -kInfinity);
    for (int i = 0; i < 2 * kAround; ++i, x = std::nextafter(x, kInfinity)) visit(x);
  }
  std::uniform_real_distribution<float> steps(-300, 300);
  for (int i = 0; i < 20000; ++i) visit(steps(random) * scale);
  for (int i = 0; i < 20000; ++i) visit(std::bit_cast<float>(static_cast<uint32_t>(random())));
  for (const float x : {0.0f, 1e-45f, 1e-38f, 3e38f, kInfinity, std::nanf("")}) visit(x), visit(-x);
}

TEST(ByteQuotient, TwoPartsOfAReciprocalRoundToTheBytesOfTheQuotient) {
  std::mt19937 random(11);
  int64_t numbers = 0, missedByOnePart = 0;
  for (const float scale : someScales(300))
    for (const ByteRange& bytes : {ByteRange{DataType::kU8, 0}, ByteRange{DataType::kU8, 121},
                                   ByteRange{DataType::kI8, -5}}) {
      const std::optional<Reciprocal> r = reciprocalFor(scale, bytes);
      if (!r) continue;
      forEachNumber(scale, random, [&](float x) {
        ++numbers;
        missedByOnePart += byteOf(x * (1 / scale), bytes) != byteOf(x / scale, bytes);
        if (byReciprocal(x, *r, bytes) != byteOf(x / scale, bytes))
          ADD_FAILURE() << x << " / " << scale;
      });
    }
  EXPECT_GT(numbers, 40'000'000);
  EXPECT_GT(missedByOnePart, 10'000) << "the numbers are too easy";
}

template <class Float8>
void expectSameFloats(DataType type) {
  std::mt19937 random(13);
  int64_t numbers = 0, found = 0;
  for (const float scale : someScales(200)) {
    const std::optional<Reciprocal> r = reciprocalFor(scale, type);
    if (!r) continue;
    ++found;
    const auto expectSame = [&](float x) {
      ++numbers;
      const volatile float rest = x * r->low;
      if (Float8(std::fma(x, r->high, rest)).bits != Float8(x / scale).bits)
        ADD_FAILURE() << x << " / " << scale;
    };
    for (int bits = 0; bits < 0x7b; ++bits) {
      const auto valueOf = [](int of) {
        return static_cast<double>(static_cast<float>(Float8::fromBits(static_cast<uint8_t>(of))));
      };
      auto x = static_cast<float>((valueOf(bits) + valueOf(bits + 1)) / 2 * scale);
      for (int i = 0; i < 12; ++i) x = std::nextafter(x, -kInfinity);
      for (int i = 0; i < 24; ++i, x = std::nextafter(x, kInfinity)) expectSame(x), expectSame(-x);
    }
    for (int i = 0; i < 20000; ++i)
      expectSame(std::bit_cast<float>(static_cast<uint32_t>(random())));
  }
  EXPECT_GT(found, 150);
  EXPECT_GT(numbers, 3'000'000);
}

TEST(ByteQuotient, FloatsOf8BitsAreThoseOfTheQuotient) {
  expectSameFloats<Float8E4M3>(DataType::kF8E4M3);
  expectSameFloats<Float8E5M2>(DataType::kF8E5M2);
}

TEST(ByteQuotient, ScalesWithoutSuchReciprocalsAreDividedBy) {
  for (const float scale : {0.25f, 1.0f, 0.0f, -0.1f, kInfinity, std::nanf(""), 1e-40f, 1e35f})
    EXPECT_FALSE(reciprocalFor(scale, {})) << scale;
  EXPECT_TRUE(reciprocalFor(0.1f, {}));
}

}  // namespace
}  // namespace camshaft
