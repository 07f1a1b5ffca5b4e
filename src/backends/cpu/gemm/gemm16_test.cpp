#include "backends/cpu/gemm/gemm16.h"

#include "backends/cpu/gemm/test_support.h"
#include "support/thread_pool.h"

namespace camshaft::cpu {
namespace {

class Gemm16 : public testing::TestWithParam<Type16> {
 protected:
  void SetUp() override {
    if (!hasGemm16(GetParam())) GTEST_SKIP() << "this CPU multiplies f32 sooner";
  }
  // Runs `body` on every kind of units that this CPU has.
  template <class Body>
  static void onEveryUnit(const Body& body) {
    body();
    if (GetParam() != Type16::kBf16 || !bf16UsesTiles()) return;
    allowBf16Tiles(false);
    body();
    allowBf16Tiles(true);
  }
  static std::vector<float> rounded(std::vector<float> values) {
    for (float& value : values)
      value = GetParam() == Type16::kBf16 ? static_cast<float>(BFloat16(value))
                                          : static_cast<float>(Half(value));
    return values;
  }
  static void check(int64_t m, int64_t n, int64_t k, bool transposedB, Epilogue epilogue,
                    int threads, bool inPlace = false);
};

INSTANTIATE_TEST_SUITE_P(Types, Gemm16, testing::Values(Type16::kBf16, Type16::kF16),
                         [](const auto& info) {
                           return info.param == Type16::kBf16 ? "bf16" : "f16";
                         });

std::vector<uint16_t> halvesOf(const std::vector<float>& values) {
  std::vector<uint16_t> halves;
  for (float value : values) halves.push_back(BFloat16(value).bits);
  return halves;
}

// Operands that are round already, so that only the order of sums is left as a difference, and in
// f16 the rounding of some. A is given as floats, or as the bf16 it is.
void Gemm16::check(int64_t m, int64_t n, int64_t k, bool transposedB, Epilogue epilogue,
                   int threads, bool inPlace) {
  SCOPED_TRACE(testing::Message() << m << "x" << n << "x" << k);
  const Type16 type = GetParam();
  const int64_t lda = k + 3, ldb = (transposedB ? k : n) + 2, ldc = n + 5;
  auto a = rounded(randomFloats(m * lda - 3, 1));
  for (int64_t i = k; i < m * lda - 3; ++i)  // what lies between rows is not read
    if (i % lda >= k) a[static_cast<size_t>(i)] = std::numeric_limits<float>::quiet_NaN();
  const auto halves = halvesOf(a);
  const auto b = rounded(randomFloats((transposedB ? n : k) * ldb, 2));
  const auto bias = randomFloats(n, 3), residual = randomFloats(m * ldc, 4);
  epilogue.bias = bias.data();
  epilogue.residual = residual.data();
  epilogue.residualStride = ldc;
  ThreadPool pool(threads);
  onEveryUnit([&] {
    PoisonedBuffer packed(packedB16Floats(type, k, n)), c(m * ldc);
    PoisonedBuffer workspace(gemm16WorkspaceFloats(type, m, k, threads));
    auto* packedB = reinterpret_cast<uint16_t*>(packed.data());
    packB16(type, k, n, b.data(), ldb, transposedB, packedB);
    const auto pack = [&](int64_t row, int64_t rows, const Panel16& panel) {
      if (inPlace)
        packPanel16(halves.data() + row * lda, lda, k, rows, panel);
      else
        packPanel16(a.data() + row * lda, lda, k, rows, panel);
    };
    gemm16(type, m, n, k, pack, packedB, {c.data(), ldc}, epilogue, pool, workspace.data(),
           {inPlace ? halves.data() : nullptr, lda});
    packed.expectMarginsIntact();
    workspace.expectMarginsIntact();
    c.expectMarginsIntact();
    EXPECT_LT(relativeErrorOf({m, n, k, a, lda, b, ldb, transposedB}, epilogue, c, ldc),
              type == Type16::kBf16 ? 3e-6 : 2e-3);
  });
}

TEST_P(Gemm16, TakesAnyShape) {
  for (int64_t m : {1, 2, 3, 5, 7, 8, 9, 16, 17, 32, 49, 70, 130})
    for (int64_t n : {1, 7, 8, 9, 16, 33, 100})
      for (int64_t k : {1, 3, 4, 5, 32, 101}) check(m, n, k, n % 2 == 0, {}, 2);
}

TEST_P(Gemm16, ReadsRowsThatAreBf16Already) {
  if (GetParam() != Type16::kBf16) GTEST_SKIP() << "there are no f16 tensors";
  for (int64_t m : {1, 16, 32, 33, 48, 130})
    for (int64_t k : {4, 31, 32, 64, 96, 1000}) check(m, 40, k, false, {}, 2, true);
  check(300, 700, 64, false, {}, 3, true);
}

TEST_P(Gemm16, AddsUpPassesOfDeepProducts) {
  for (int64_t k : {1023, 1024, 1025, 2500, 9000}) check(37, 20, k, k % 2 == 0, {}, 2);
}

TEST_P(Gemm16, SplitsAmongThreads) {
  for (int threads : {1, 2, 5}) {
    check(600, 40, 96, false, {.activation = Activation::kRelu}, threads);
    check(8, 1500, 300, true, {.activation = Activation::kRelu}, threads);
    check(1, 1500, 1300, false, {}, threads);
  }
}

TEST_P(Gemm16, TakesEveryActivation) {
  for (Activation activation :
       {Activation::kNone, Activation::kRelu, Activation::kClip, Activation::kSigmoid,
        Activation::kSilu, Activation::kHardSwish, Activation::kGelu, Activation::kTanh})
    check(19, 45, 40, false,
          {.scale = 0.25f, .activation = activation, .low = -0.5f, .high = 0.75f}, 2);
}

// C = A B, of whole matrices.
std::vector<float> multiplied(Type16 type, int64_t m, int64_t n, int64_t k,
                              const std::vector<float>& a, const std::vector<float>& b) {
  std::vector<float> c(static_cast<size_t>(m * n));
  std::vector<uint16_t> packed(static_cast<size_t>(2 * packedB16Floats(type, k, n)));
  packB16(type, k, n, b.data(), n, false, packed.data());
  PoisonedBuffer workspace(gemm16WorkspaceFloats(type, m, k, 1));
  ThreadPool pool(1);
  gemm16(
      type, m, n, k,
      [&](int64_t row, int64_t rows, const Panel16& panel) {
        packPanel16(a.data() + row * k, k, k, rows, panel);
      },
      packed.data(), {c.data(), n}, {}, pool, workspace.data());
  return c;
}

TEST_P(Gemm16, RoundsToNearest) {
  // Halfway between two values goes to the even one: down from one step above 1, up from three.
  const float half = GetParam() == Type16::kBf16 ? 0x1p-8f : 0x1p-11f;
  EXPECT_EQ(multiplied(GetParam(), 2, 1, 1, {1 + half, 1 + 3 * half}, {1}),
            (std::vector<float>{1, 1 + 4 * half}));
}

// What f32 holds is not beyond products of f16, each row and each column by itself.
TEST_P(Gemm16, TakesNumbersOfAnySize) {
  const int64_t m = 19, n = 11, k = 150;
  const float rowSizes[] = {1, 1e5f, 3e-7f, 1e20f, 60000, 4095.5f, 1e-3f};
  const float columnSizes[] = {1, 1e-25f, 1e4f, 7e7f, 0.1f};
  auto a = randomFloats(m * k, 1), b = randomFloats(k * n, 2);
  for (int64_t i = 0; i < m * k; ++i) a[static_cast<size_t>(i)] *= rowSizes[i / k % 7];
  for (int64_t i = 0; i < k * n; ++i) b[static_cast<size_t>(i)] *= columnSizes[i % n % 5];
  const auto c = multiplied(GetParam(), m, n, k, a, b);
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) {
      const auto got = c[static_cast<size_t>(i * n + j)];
      double want = 0;
      for (int64_t l = 0; l < k; ++l)
        want += double(a[static_cast<size_t>(i * k + l)]) * b[static_cast<size_t>(l * n + j)];
      const double typical = double(rowSizes[i % 7]) * columnSizes[j % 5] * std::sqrt(double(k));
      EXPECT_NEAR(got, want, 1e-2 * typical) << i << ", " << j;
    }
}

// Sums far beyond f16, of numbers that are not.
TEST_P(Gemm16, SumsAreNotBoundByTheType) {
  const int64_t k = 5000;
  const auto c = multiplied(GetParam(), 1, 2, k, std::vector<float>(k, 32768.0f),
                            std::vector<float>(2 * k, 8.0f));
  EXPECT_EQ(c[0], 32768.0f * 8 * k);
  EXPECT_EQ(c[1], 32768.0f * 8 * k);
}

TEST_P(Gemm16, PassesOnWhatIsNoNumber) {
  const float inf = std::numeric_limits<float>::infinity(), nan = std::nanf("");
  const auto c = multiplied(GetParam(), 4, 2, 2, {inf, 1, nan, 1, 1, 2, -inf, 3e37f}, {1, 2, 3, 4});
  EXPECT_EQ(c[0], inf);
  EXPECT_EQ(c[1], inf);
  EXPECT_TRUE(std::isnan(c[2]) && std::isnan(c[3]));
  EXPECT_EQ(c[4], 7);
  EXPECT_EQ(c[5], 10);
  EXPECT_EQ(c[6], -inf);
  const auto d = multiplied(GetParam(), 1, 3, 1, {2}, {inf, nan, 3});
  EXPECT_EQ(d[0], inf);
  EXPECT_TRUE(std::isnan(d[1]));
  EXPECT_EQ(d[2], 6);
}

}  // namespace
}  // namespace camshaft::cpu
