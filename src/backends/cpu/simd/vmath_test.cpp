#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/simd/vmath_test.cpp"
#include "backends/cpu/simd/targets.h"
#include "hwy/foreach_target.h"  // IWYU pragma: keep

#include "backends/cpu/simd/vmath-inl.h"

HWY_BEFORE_NAMESPACE();
namespace camshaft::cpu::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

enum Function { kExp, kExpOfNegative, kLog, kTanh, kSigmoid, kSilu, kErf, kRoughSilu, kRoughGelu };

// `count` is a multiple of every vector length.
void evaluate(int function, const float* x, float* y, size_t count) {
  const hn::ScalableTag<float> d;
  for (size_t i = 0; i < count; i += hn::Lanes(d)) {
    const auto v = hn::LoadU(d, x + i);
    auto r = v;
    switch (function) {
      case kExp:
        r = vmath::exp(d, v);
        break;
      case kExpOfNegative:
        r = vmath::expOfNegative(d, hn::Neg(hn::Abs(v)));
        break;
      case kLog:
        r = vmath::log(d, v);
        break;
      case kTanh:
        r = vmath::tanh(d, v);
        break;
      case kSigmoid:
        r = vmath::sigmoid(d, v);
        break;
      case kSilu:
        r = vmath::silu(d, v);
        break;
      case kErf:
        r = vmath::erf(d, v);
        break;
      case kRoughSilu:
        r = vmath::rough::silu(d, v);
        break;
      case kRoughGelu:
        r = vmath::rough::gelu(d, v);
        break;
    }
    hn::StoreU(r, d, y + i);
  }
}

}  // namespace camshaft::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "backends/cpu/simd/isa.h"

namespace camshaft::cpu {

HWY_EXPORT(evaluate);

namespace {

using Exact = double (*)(double);

double exactSigmoid(double x) { return 1.0 / (1.0 + std::exp(-x)); }
// Nothing is left below -87.
double expOfNegative(double x) { return std::fabs(x) > 87 ? 0 : std::exp(-std::fabs(x)); }

// Below -87 it stays as it is there.
double siluFromBelow(double x) { return x < -87 ? siluFromBelow(-87) : x / (1.0 + std::exp(-x)); }

// Below -8 it stays as it is there.
double geluFromBelow(double x) {
  return x < -8 ? geluFromBelow(-8) : x / 2 * std::erfc(-x * std::sqrt(0.5));
}

// Every 4096th or so bit pattern, and the neighbourhood of zero and one: all exponents, both signs.
std::vector<float> wideRange() {
  std::vector<float> x;
  for (uint64_t bits = 0; bits <= 0xffffffffu; bits += 4093) {
    const uint32_t pattern = static_cast<uint32_t>(bits);
    float value;
    std::memcpy(&value, &pattern, sizeof value);
    x.push_back(value);
  }
  for (int i = -200000; i < 200000; ++i) x.push_back(static_cast<float>(i) * 1e-3f);
  for (int i = -20000; i < 20000; ++i) x.push_back(1.0f + static_cast<float>(i) * 1e-5f);
  const float infinity = std::numeric_limits<float>::infinity();
  for (float special : {0.0f, -0.0f, infinity, -infinity, std::nanf(""), 1e-45f, -1e-45f, 88.72f,
                        88.73f, -87.4f, -103.9f, -104.1f, 3.402823e38f, -3.402823e38f}) {
    x.push_back(special);
  }
  while (x.size() % 64 != 0) x.push_back(0.5f);
  return x;
}

struct Errors {
  double ulps = 0;
  double absolute = 0;
};

Errors measure(int function, Exact exact) {
  const std::vector<float> x = wideRange();
  std::vector<float> y(x.size(), -123.0f);
  HWY_DYNAMIC_DISPATCH(evaluate)(function, x.data(), y.data(), x.size());
  Errors worst;
  for (size_t i = 0; i < x.size(); ++i) {
    const double want = exact(static_cast<double>(x[i]));
    const float rounded = static_cast<float>(want);
    if (std::isnan(want)) {
      EXPECT_TRUE(std::isnan(y[i])) << x[i];
    } else if (std::isinf(rounded)) {
      EXPECT_TRUE(y[i] == rounded || std::fabs(y[i]) > 3.4028e38f) << x[i] << " gave " << y[i];
    } else {
      const float next = std::nextafter(std::fabs(rounded), std::numeric_limits<float>::infinity());
      const double ulp = std::isinf(next) ? 2e31 : double(next) - std::fabs(rounded);
      const double error = std::fabs(double(y[i]) - want);
      EXPECT_TRUE(std::isfinite(y[i])) << x[i];
      if (!(error / ulp <= worst.ulps)) worst.ulps = error / ulp;
      if (!(error <= worst.absolute)) worst.absolute = error;
    }
  }
  testing::Test::RecordProperty("ulps", std::to_string(worst.ulps));
  testing::Test::RecordProperty("absolute", std::to_string(worst.absolute * 1e7) + "e-7");
  return worst;
}

class VmathTest : public testing::TestWithParam<std::string_view> {
 protected:
  void SetUp() override { ASSERT_TRUE(setIsa(GetParam())); }
  void TearDown() override { setIsa(availableIsas().front()); }
};

TEST_P(VmathTest, ExpIsWithinTwoUlps) {
  EXPECT_LE(measure(HWY_NAMESPACE::kExp, std::exp).ulps, 2.0);
}
TEST_P(VmathTest, ExpOfNegativeIsWithinTwoUlpsOrZero) {
  EXPECT_LE(measure(HWY_NAMESPACE::kExpOfNegative, expOfNegative).ulps, 2.0);
}
TEST_P(VmathTest, LogIsWithinTwoUlps) {
  EXPECT_LE(measure(HWY_NAMESPACE::kLog, std::log).ulps, 2.0);
}
TEST_P(VmathTest, TanhIsWithinFourUlps) {
  EXPECT_LE(measure(HWY_NAMESPACE::kTanh, std::tanh).ulps, 4.0);
}
TEST_P(VmathTest, SigmoidIsWithinFourUlps) {
  EXPECT_LE(measure(HWY_NAMESPACE::kSigmoid, exactSigmoid).ulps, 4.0);
}
TEST_P(VmathTest, SiluIsWithinFourUlpsDownToMinus87) {
  EXPECT_LE(measure(HWY_NAMESPACE::kSilu, siluFromBelow).ulps, 4.0);
  float tiny[64] = {-88, -100, -1e30f, -std::numeric_limits<float>::infinity()};
  HWY_DYNAMIC_DISPATCH(evaluate)(HWY_NAMESPACE::kSilu, tiny, tiny, 64);
  for (int i = 0; i < 4; ++i) EXPECT_LT(std::fabs(tiny[i]), 1e-35f);
}
TEST_P(VmathTest, ErfIsWithinThreeTenMillionths) {
  const bool fused = GetParam() != "sse4" && GetParam() != "generic";
  EXPECT_LE(measure(HWY_NAMESPACE::kErf, std::erf).absolute, fused ? 3e-7 : 4e-7);
}

TEST_P(VmathTest, RoughOnesSufficeForBf16) {
  constexpr double kUlp = 0x1p-24;  // at least so much of a number
  EXPECT_LE(measure(HWY_NAMESPACE::kRoughSilu, siluFromBelow).ulps * kUlp, 2e-4);
  EXPECT_LE(measure(HWY_NAMESPACE::kRoughGelu, geluFromBelow).ulps * kUlp, 4e-4);
}

INSTANTIATE_TEST_SUITE_P(Isas, VmathTest, testing::ValuesIn(availableIsas()),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace camshaft::cpu
#endif  // HWY_ONCE
