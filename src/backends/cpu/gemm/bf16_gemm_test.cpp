#include "backends/cpu/gemm/bf16_gemm.h"

#include "backends/cpu/gemm/test_support.h"
#include "support/thread_pool.h"

namespace camshaft::cpu {
namespace {

// Operands that are bf16 already, so that only the order of sums is left as a difference.
void check(int64_t m, int64_t n, int64_t k, bool transposedB, Epilogue epilogue, int threads) {
  SCOPED_TRACE(testing::Message() << m << "x" << n << "x" << k);
  const int64_t lda = k + 3, ldb = (transposedB ? k : n) + 2, ldc = n + 5;
  const auto a = roundedToBf16(randomFloats(m * lda, 1));
  const auto b = roundedToBf16(randomFloats((transposedB ? n : k) * ldb, 2));
  const auto bias = randomFloats(n, 3), residual = randomFloats(m * ldc, 4);
  epilogue.bias = bias.data();
  epilogue.residual = residual.data();
  epilogue.residualStride = ldc;
  PoisonedBuffer packed(bf16PackedBFloats(k, n)), c(m * ldc);
  PoisonedBuffer workspace(bf16GemmWorkspaceFloats(m, k, threads));
  auto* packedB = reinterpret_cast<uint16_t*>(packed.data());
  packBf16B(k, n, b.data(), ldb, transposedB, packedB);
  ThreadPool pool(threads);
  bf16Gemm(
      m, n, k,
      [&](int64_t row, int64_t rows, uint16_t* panel) {
        packBf16Panel(a.data() + row * lda, lda, k, rows, panel);
      },
      packedB, c.data(), ldc, epilogue, pool, workspace.data());
  packed.expectMarginsIntact();
  workspace.expectMarginsIntact();
  c.expectMarginsIntact();
  EXPECT_LT(relativeErrorOf({m, n, k, a, lda, b, ldb, transposedB}, epilogue, c, ldc), 3e-6);
}

class Bf16Gemm : public testing::Test {
  void SetUp() override {
    if (!hasBf16Gemm()) GTEST_SKIP() << "this CPU multiplies no bf16 matrices";
  }
};

TEST_F(Bf16Gemm, TakesAnyShape) {
  for (int64_t m : {1, 2, 3, 5, 7, 8, 9, 16, 70, 130})
    for (int64_t n : {1, 7, 8, 9, 33, 100})
      for (int64_t k : {1, 3, 4, 5, 32, 101}) check(m, n, k, n % 2 == 0, {}, 2);
}

TEST_F(Bf16Gemm, AddsUpPassesOfDeepProducts) {
  for (int64_t k : {1023, 1024, 1025, 2500, 9000}) check(37, 20, k, k % 2 == 0, {}, 2);
}

TEST_F(Bf16Gemm, SplitsAmongThreads) {
  for (int threads : {1, 2, 5}) {
    check(600, 40, 96, false, {.activation = Activation::kRelu}, threads);
    check(8, 1500, 300, true, {.activation = Activation::kRelu}, threads);
    check(1, 1500, 1300, false, {}, threads);
  }
}

TEST_F(Bf16Gemm, TakesEveryActivation) {
  for (Activation activation :
       {Activation::kNone, Activation::kRelu, Activation::kClip, Activation::kSigmoid,
        Activation::kSilu, Activation::kHardSwish, Activation::kGelu, Activation::kTanh})
    check(19, 45, 40, false,
          {.scale = 0.25f, .activation = activation, .low = -0.5f, .high = 0.75f}, 2);
}

TEST_F(Bf16Gemm, RoundsToNearest) {
  // 1 + 2^-8 lies between two bf16 values and goes to the even one, 1 + 3 * 2^-8 to 1 + 2^-6.
  const float a[] = {1 + 0x1p-8f, 1 + 3 * 0x1p-8f}, one = 1;
  uint16_t packed[64];
  packBf16B(1, 1, &one, 1, false, packed);
  PoisonedBuffer workspace(bf16GemmWorkspaceFloats(2, 1, 1));
  float c[2];
  ThreadPool pool(1);
  bf16Gemm(
      2, 1, 1,
      [&](int64_t row, int64_t rows, uint16_t* panel) {
        packBf16Panel(a + row, 1, 1, rows, panel);
      },
      packed, c, 1, {}, pool, workspace.data());
  EXPECT_EQ(c[0], 1);
  EXPECT_EQ(c[1], 1 + 0x1p-6f);
}

}  // namespace
}  // namespace camshaft::cpu
