// What the tests of this folder share: seeded data, poisoned memory, a double-precision epilogue.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "backends/cpu/gemm/epilogue.h"
#include "backends/cpu/simd/isa.h"
#include "support/half.h"

namespace camshaft::cpu {

inline std::vector<float> randomFloats(int64_t count, uint32_t seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<float> normal;
  std::vector<float> values(static_cast<size_t>(count));
  for (float& value : values) value = normal(generator);
  return values;
}

// As operands of bf16 products are rounded.
inline std::vector<float> roundedToBf16(std::vector<float> values) {
  for (float& value : values) value = static_cast<float>(BFloat16(value));
  return values;
}

// Full of NaN, with a margin on both sides that must still be NaN after the call under test.
class PoisonedBuffer {
 public:
  explicit PoisonedBuffer(int64_t count)
      : count_(count),
        memory_(static_cast<size_t>(count + 2 * kMargin), std::numeric_limits<float>::quiet_NaN()) {
  }
  float* data() { return memory_.data() + kMargin; }
  float operator[](int64_t i) const { return memory_[static_cast<size_t>(i + kMargin)]; }
  void expectMarginsIntact() const {
    for (int64_t i = 0; i < kMargin; ++i) {
      ASSERT_TRUE(std::isnan(memory_[static_cast<size_t>(i)])) << "written before the start";
      ASSERT_TRUE(std::isnan(memory_[static_cast<size_t>(kMargin + count_ + i)]))
          << "written past the end, at +" << i;
    }
  }

 private:
  static constexpr int64_t kMargin = 256;
  int64_t count_;
  std::vector<float> memory_;
};

inline double curveOf(const Epilogue& epilogue, double x) {
  switch (epilogue.activation) {
    case Activation::kNone:
      return x;
    case Activation::kRelu:
      return std::max(x, 0.0);
    case Activation::kClip:
      return std::min<double>(std::max<double>(x, epilogue.low), epilogue.high);
    case Activation::kSigmoid:
      return 1 / (1 + std::exp(-x));
    case Activation::kSilu:
      return x / (1 + std::exp(-x));
    case Activation::kHardSwish:
      return x * std::min(std::max(x / 6 + 0.5, 0.0), 1.0);
    case Activation::kGelu:
      return 0.5 * x * (1 + std::erf(x * std::sqrt(0.5)));
    case Activation::kTanh:
      return std::tanh(x);
  }
  return x;
}

inline double exactActivation(const Epilogue& epilogue, double x) {
  return curveOf(epilogue, x) * epilogue.outScale + epilogue.outShift;
}

// The operands of a product. The epilogue has a bias, and a residual with C's stride.
struct ProductOperands {
  int64_t m, n, k;
  const std::vector<float>& a;  // [m][lda]
  int64_t lda;
  const std::vector<float>& b;  // [k][ldb], or [n][ldb] when transposed
  int64_t ldb;
  bool transposedB;
};

// The relative L2 error of C; its columns beyond n must still be NaN.
inline double relativeErrorOf(const ProductOperands& p, const Epilogue& epilogue,
                              const PoisonedBuffer& c, int64_t ldc) {
  double error = 0, norm = 0;
  for (int64_t i = 0; i < p.m; ++i) {
    for (int64_t j = 0; j < ldc; ++j) {
      if (j >= p.n) {
        EXPECT_TRUE(std::isnan(c[i * ldc + j]));
        continue;
      }
      double want = 0;
      for (int64_t l = 0; l < p.k; ++l)
        want += double(p.a[static_cast<size_t>(i * p.lda + l)]) *
                p.b[static_cast<size_t>(p.transposedB ? j * p.ldb + l : l * p.ldb + j)];
      want = exactActivation(
          epilogue, epilogue.scale * want + epilogue.bias[j] + epilogue.residual[i * ldc + j]);
      error += (c[i * ldc + j] - want) * (c[i * ldc + j] - want);
      norm += want * want;
    }
  }
  return std::sqrt(error / norm);
}

// Runs each test once per instruction set of this machine.
class IsaTest : public testing::TestWithParam<std::string_view> {
 protected:
  void SetUp() override { ASSERT_TRUE(setIsa(GetParam())); }
  void TearDown() override { setIsa(availableIsas().front()); }
};

inline std::string isaTestName(const testing::TestParamInfo<std::string_view>& info) {
  return std::string(info.param);
}

}  // namespace camshaft::cpu
