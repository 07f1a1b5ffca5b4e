#include "backends/cpu/gemm/split_gemm.h"

#include "backends/cpu/gemm/test_support.h"
#include "support/thread_pool.h"

namespace camshaft::cpu {
namespace {

// Returns the relative L2 error.
double check(int64_t m, int64_t n, int64_t k, bool transposedB, Epilogue epilogue, int threads) {
  SCOPED_TRACE(testing::Message() << m << "x" << n << "x" << k);
  const int64_t lda = k + 3, ldb = (transposedB ? k : n) + 2, ldc = n + 5;
  const auto a = randomFloats(m * lda, 1), b = randomFloats((transposedB ? n : k) * ldb, 2);
  const auto bias = randomFloats(n, 3), residual = randomFloats(m * ldc, 4);
  epilogue.bias = bias.data();
  epilogue.residual = residual.data();
  epilogue.residualStride = ldc;
  PoisonedBuffer packed(splitPackedBFloats(k, n)), c(m * ldc);
  PoisonedBuffer workspace(splitGemmWorkspaceFloats(m, k));
  splitPackB(k, n, b.data(), ldb, transposedB, packed.data());
  ThreadPool pool(threads);
  splitGemm(m, n, k, a.data(), lda, packed.data(), c.data(), ldc, epilogue, pool, workspace.data());
  packed.expectMarginsIntact();
  workspace.expectMarginsIntact();
  c.expectMarginsIntact();
  const double error = relativeErrorOf({m, n, k, a, lda, b, ldb, transposedB}, epilogue, c, ldc);
  EXPECT_LT(error, 1e-5);
  return error;
}

class SplitGemmTest : public testing::Test {
  void SetUp() override {
    if (!hasSplitGemm()) GTEST_SKIP() << "this CPU has no bf16 matrix units";
  }
};

TEST_F(SplitGemmTest, TakesAnyShape) {
  for (int64_t m : {1, 15, 16, 17, 32, 33, 70}) {
    for (int64_t n : {1, 16, 31, 32, 33, 100}) {
      for (int64_t k : {1, 31, 32, 33, 100}) check(m, n, k, n % 2 == 0, {}, 2);
    }
  }
}

TEST_F(SplitGemmTest, SplitsAmongThreads) {
  for (int threads : {1, 2, 5}) {
    check(200, 40, 64, false, {.activation = Activation::kRelu}, threads);
    check(8, 700, 64, true, {.activation = Activation::kRelu}, threads);
  }
}

TEST_F(SplitGemmTest, TakesEveryActivation) {
  for (Activation activation :
       {Activation::kNone, Activation::kRelu, Activation::kClip, Activation::kSigmoid,
        Activation::kSilu, Activation::kHardSwish, Activation::kGelu, Activation::kTanh}) {
    check(19, 45, 40, false,
          {.scale = 0.25f, .activation = activation, .low = -0.5f, .high = 0.75f}, 2);
  }
}

TEST_F(SplitGemmTest, StaysAccurate) {
  RecordProperty("relativeError", std::to_string(check(64, 64, 768, false, {}, 1) * 1e6) + "e-6");
}

}  // namespace
}  // namespace camshaft::cpu
