#include "backends/cpu/gemm/bf16_gemm.h"

#include "backends/cpu/gemm/bf16_tile.h"
#include "backends/cpu/gemm/test_support.h"
#include "support/thread_pool.h"

namespace camshaft::cpu {
namespace {

// Runs `body` on every kind of units that this CPU has.
template <class Body>
void onEveryUnit(const Body& body) {
  body();
  if (!bf16UsesTiles()) return;
  allowBf16Tiles(false);
  body();
  allowBf16Tiles(true);
}

std::vector<uint16_t> halvesOf(const std::vector<float>& values) {
  std::vector<uint16_t> halves;
  for (float value : values) halves.push_back(BFloat16(value).bits);
  return halves;
}

// Operands that are bf16 already, so that only the order of sums is left as a difference. A is
// given as floats, or as the bf16 it is.
void check(int64_t m, int64_t n, int64_t k, bool transposedB, Epilogue epilogue, int threads,
           bool inPlace = false) {
  SCOPED_TRACE(testing::Message() << m << "x" << n << "x" << k);
  const int64_t lda = k + 3, ldb = (transposedB ? k : n) + 2, ldc = n + 5;
  auto a = roundedToBf16(randomFloats(m * lda - 3, 1));
  for (int64_t i = k; i < m * lda - 3; ++i)  // what lies between rows is not read
    if (i % lda >= k) a[static_cast<size_t>(i)] = std::numeric_limits<float>::quiet_NaN();
  const auto halves = halvesOf(a);
  const auto b = roundedToBf16(randomFloats((transposedB ? n : k) * ldb, 2));
  const auto bias = randomFloats(n, 3), residual = randomFloats(m * ldc, 4);
  epilogue.bias = bias.data();
  epilogue.residual = residual.data();
  epilogue.residualStride = ldc;
  ThreadPool pool(threads);
  onEveryUnit([&] {
    PoisonedBuffer packed(bf16PackedBFloats(k, n)), c(m * ldc);
    PoisonedBuffer workspace(bf16GemmWorkspaceFloats(m, k, threads));
    auto* packedB = reinterpret_cast<uint16_t*>(packed.data());
    packBf16B(k, n, b.data(), ldb, transposedB, packedB);
    const auto pack = [&](int64_t row, int64_t rows, uint16_t* panel) {
      if (inPlace)
        packBf16Panel(halves.data() + row * lda, lda, k, rows, panel);
      else
        packBf16Panel(a.data() + row * lda, lda, k, rows, panel);
    };
    bf16Gemm(m, n, k, pack, packedB, {c.data(), ldc}, epilogue, pool, workspace.data(),
             {inPlace ? halves.data() : nullptr, lda});
    packed.expectMarginsIntact();
    workspace.expectMarginsIntact();
    c.expectMarginsIntact();
    EXPECT_LT(relativeErrorOf({m, n, k, a, lda, b, ldb, transposedB}, epilogue, c, ldc), 3e-6);
  });
}

class Bf16Gemm : public testing::Test {
  void SetUp() override {
    if (!hasBf16Gemm()) GTEST_SKIP() << "this CPU multiplies no bf16 matrices";
  }
};

TEST_F(Bf16Gemm, TakesAnyShape) {
  for (int64_t m : {1, 2, 3, 5, 7, 8, 9, 16, 17, 32, 49, 70, 130})
    for (int64_t n : {1, 7, 8, 9, 16, 33, 100})
      for (int64_t k : {1, 3, 4, 5, 32, 101}) check(m, n, k, n % 2 == 0, {}, 2);
}

TEST_F(Bf16Gemm, ReadsRowsThatAreBf16Already) {
  for (int64_t m : {1, 16, 32, 33, 48, 130})
    for (int64_t k : {4, 31, 32, 64, 96, 1000}) check(m, 40, k, false, {}, 2, true);
  check(300, 700, 64, false, {}, 3, true);
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
  std::vector<uint16_t> packed(static_cast<size_t>(2 * bf16PackedBFloats(1, 1)));
  packBf16B(1, 1, &one, 1, false, packed.data());
  PoisonedBuffer workspace(bf16GemmWorkspaceFloats(2, 1, 1));
  float c[2];
  ThreadPool pool(1);
  bf16Gemm(
      2, 1, 1,
      [&](int64_t row, int64_t rows, uint16_t* panel) {
        packBf16Panel(a + row, 1, 1, rows, panel);
      },
      packed.data(), {c, 1}, {}, pool, workspace.data());
  EXPECT_EQ(c[0], 1);
  EXPECT_EQ(c[1], 1 + 0x1p-6f);
}

}  // namespace
}  // namespace camshaft::cpu
