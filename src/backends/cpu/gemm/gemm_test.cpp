#include "backends/cpu/gemm/gemm.h"

#include <atomic>

#include "backends/cpu/gemm/test_support.h"
#include "support/thread_pool.h"

namespace camshaft::cpu {
namespace {

constexpr int64_t kPadding = 3;  // columns beyond each row, to be left alone

struct Problem {
  int64_t m, n, k;
  Epilogue epilogue = {};
  bool withBias = false, withResidual = false, transposedB = false;
  int threads = 2;
};

double exactElement(const Problem& p, const std::vector<float>& a, int64_t lda,
                    const std::vector<float>& b, int64_t ldb, int64_t i, int64_t j) {
  double sum = 0;
  for (int64_t kk = 0; kk < p.k; ++kk) {
    const float bv = b[static_cast<size_t>(p.transposedB ? j * ldb + kk : kk * ldb + j)];
    sum += double(a[static_cast<size_t>(i * lda + kk)]) * bv;
  }
  return sum;
}

void check(const Problem& p) {
  SCOPED_TRACE(testing::Message() << p.m << "x" << p.n << "x" << p.k << " " << isaName());
  const int64_t lda = p.k + kPadding, ldb = (p.transposedB ? p.k : p.n) + kPadding;
  const int64_t ldc = p.n + kPadding;
  const auto a = randomFloats(p.m * lda, 1), b = randomFloats((p.transposedB ? p.n : p.k) * ldb, 2);
  const auto bias = randomFloats(p.n, 3), residual = randomFloats(p.m * ldc, 4);
  PoisonedBuffer packed(packedBFloats(p.k, p.n)), c(p.m * ldc);
  packB(p.k, p.n, b.data(), ldb, p.transposedB, packed.data());
  packed.expectMarginsIntact();

  Epilogue epilogue = p.epilogue;
  if (p.withBias) epilogue.bias = bias.data();
  if (p.withResidual) {
    epilogue.residual = residual.data();
    epilogue.residualStride = ldc;
  }
  ThreadPool pool(p.threads);
  packedGemm(p.m, p.n, p.k, a.data(), lda, packed.data(), c.data(), ldc, epilogue, pool);
  c.expectMarginsIntact();

  const double tolerance = 2e-6 * std::sqrt(double(p.k) + 1) + 2e-6;
  for (int64_t i = 0; i < p.m; ++i) {
    for (int64_t j = 0; j < p.n; ++j) {
      double want = epilogue.scale * exactElement(p, a, lda, b, ldb, i, j);
      if (p.withBias) want += bias[static_cast<size_t>(j)];
      if (p.withResidual) want += residual[static_cast<size_t>(i * ldc + j)];
      want = exactActivation(epilogue, want);
      ASSERT_NEAR(c[i * ldc + j], want, tolerance * (1 + std::fabs(want))) << i << "," << j;
    }
    for (int64_t j = p.n; j < ldc; ++j) ASSERT_TRUE(std::isnan(c[i * ldc + j]));
  }
}

using GemmTest = IsaTest;
INSTANTIATE_TEST_SUITE_P(Isas, GemmTest, testing::ValuesIn(availableIsas()), isaTestName);

TEST_P(GemmTest, EveryTileHeightAndRaggedWidth) {
  for (int64_t m = 1; m <= 17; ++m) {
    for (int64_t n : {1, 3, 4, 7, 8, 15, 16, 17, 31, 33, 48, 63, 64, 65, 80, 130}) {
      check({.m = m, .n = n, .k = 5, .withBias = true, .withResidual = true});
    }
  }
}

TEST_P(GemmTest, EveryDepth) {
  for (int64_t k : {0, 1, 2, 3, 4, 5, 8, 31, 2047, 2048, 2049, 4100}) {
    check({.m = 9,
           .n = 70,
           .k = k,
           .epilogue = {.activation = Activation::kRelu},
           .withBias = true,
           .withResidual = true});
  }
}

TEST_P(GemmTest, EveryActivation) {
  for (Activation activation :
       {Activation::kNone, Activation::kRelu, Activation::kClip, Activation::kSigmoid,
        Activation::kSilu, Activation::kHardSwish, Activation::kGelu, Activation::kTanh}) {
    check({.m = 13,
           .n = 77,
           .k = 19,
           .epilogue = {.scale = 0.25f, .activation = activation, .low = -0.5f, .high = 0.75f},
           .withBias = true});
  }
}

TEST_P(GemmTest, SplitsAmongThreads) {
  for (int threads : {1, 2, 3, 5}) {
    check({.m = 1, .n = 1000, .k = 512, .threads = threads});
    check({.m = 300, .n = 33, .k = 64, .threads = threads});
    check({.m = 128, .n = 200, .k = 96, .transposedB = true, .threads = threads});
  }
}

TEST_P(GemmTest, ResidualMayBeTheResult) {
  const int64_t m = 10, n = 37, k = 4096;
  const auto a = randomFloats(m * k, 1), b = randomFloats(k * n, 2);
  auto c = randomFloats(m * n, 3);
  const auto before = c;
  std::vector<float> packed(static_cast<size_t>(packedBFloats(k, n)));
  packB(k, n, b.data(), n, false, packed.data());
  ThreadPool pool(2);
  packedGemm(m, n, k, a.data(), k, packed.data(), c.data(), n,
             {.residual = c.data(), .residualStride = n}, pool);
  const Problem p{.m = m, .n = n, .k = k};
  for (int64_t i = 0; i < m * n; ++i) {
    const double want = exactElement(p, a, k, b, n, i / n, i % n) + before[static_cast<size_t>(i)];
    ASSERT_NEAR(c[static_cast<size_t>(i)], want, 1e-3);
  }
}

TEST_P(GemmTest, KeepsNan) {
  std::vector<float> a = {1, 2, NAN, 4}, b = {1, 1},
                     packed(static_cast<size_t>(packedBFloats(2, 1)));
  packB(2, 1, b.data(), 1, false, packed.data());
  float c[2];
  ThreadPool pool(1);
  packedGemm(2, 1, 2, a.data(), 2, packed.data(), c, 1, {.activation = Activation::kRelu}, pool);
  EXPECT_EQ(c[0], 3.0f);
  EXPECT_TRUE(std::isnan(c[1]));
}

TEST_P(GemmTest, PostSeesEveryElementOnceWhenFinished) {
  const int64_t m = 150, n = 203, k = 70;
  const auto a = randomFloats(m * k, 1), b = randomFloats(k * n, 2);
  std::vector<float> packed(static_cast<size_t>(packedBFloats(k, n)));
  packB(k, n, b.data(), n, false, packed.data());
  std::vector<float> c(static_cast<size_t>(m * n)), plain = c;
  ThreadPool pool(3);
  packedGemm(m, n, k, a.data(), k, packed.data(), plain.data(), n, {}, pool);
  Epilogue addPosition;
  addPosition.post = [](void* context, float* block, int64_t row, int64_t column, int64_t rows,
                        int64_t columns, int64_t stride) {
    ASSERT_EQ(block, static_cast<float*>(context) + row * stride + column);
    for (int64_t i = 0; i < rows; ++i) {
      for (int64_t j = 0; j < columns; ++j) {
        block[i * stride + j] += static_cast<float>((row + i) * 1000 + column + j);
      }
    }
  };
  addPosition.postContext = c.data();
  packedGemm(m, n, k, a.data(), k, packed.data(), c.data(), n, addPosition, pool);
  for (int64_t i = 0; i < m * n; ++i) {
    const size_t at = static_cast<size_t>(i);
    ASSERT_EQ(c[at], plain[at] + static_cast<float>(i / n * 1000 + i % n));
  }
}

void checkBatched(BatchedGemm p, int threads) {
  SCOPED_TRACE(testing::Message() << p.a.transposed << p.b.transposed << " threads " << threads);
  const int64_t aFloats = p.m * p.k, bFloats = p.k * p.n, cFloats = p.m * p.n;
  const int64_t batches = p.batches[0] * p.batches[1];
  const auto a = randomFloats(batches * aFloats, 1), b = randomFloats(batches * bFloats, 2);
  const auto residual = randomFloats(batches * cFloats, 3);
  PoisonedBuffer c(batches * cFloats), workspace(batchedGemmWorkspaceFloats(p, threads));
  p.a.data = a.data();
  p.b.data = b.data();
  p.c.data = c.data();
  ThreadPool pool(threads);
  batchedGemm(p, {.scale = 0.125f, .residual = residual.data(), .residualStride = p.n}, pool,
              workspace.data());
  c.expectMarginsIntact();
  workspace.expectMarginsIntact();
  for (int64_t i = 0; i < p.batches[0]; ++i) {
    for (int64_t j = 0; j < p.batches[1]; ++j) {
      const float* ab = a.data() + i * p.a.batchStrides[0] + j * p.a.batchStrides[1];
      const float* bb = b.data() + i * p.b.batchStrides[0] + j * p.b.batchStrides[1];
      const int64_t at = i * p.c.batchStrides[0] + j * p.c.batchStrides[1];
      for (int64_t e = 0; e < cFloats; ++e) {
        const int64_t row = e / p.n, column = e % p.n;
        double sum = 0;
        for (int64_t k = 0; k < p.k; ++k) {
          sum += double(p.a.transposed ? ab[k * p.m + row] : ab[row * p.k + k]) *
                 (p.b.transposed ? bb[column * p.k + k] : bb[k * p.n + column]);
        }
        ASSERT_NEAR(c[at + e], 0.125 * sum + residual[static_cast<size_t>(at + e)], 1e-4);
      }
    }
  }
}

TEST_P(GemmTest, BatchesOfActivations) {
  for (bool transposedA : {false, true}) {
    for (bool transposedB : {false, true}) {
      for (int threads : {1, 2, 9}) {
        BatchedGemm p;
        p.m = 21, p.n = 70, p.k = 33;
        p.batches[0] = 2, p.batches[1] = 3;
        p.a = {.stride = transposedA ? p.m : p.k,
               .batchStrides = {3 * p.m * p.k, p.m * p.k},
               .transposed = transposedA};
        p.b = {.stride = transposedB ? p.k : p.n,
               .batchStrides = {3 * p.k * p.n, p.k * p.n},
               .transposed = transposedB};
        p.c = {.stride = p.n, .batchStrides = {3 * p.m * p.n, p.m * p.n}};
        checkBatched(p, threads);
        p.b.batchStrides[1] = 0;
        checkBatched(p, threads);
        p.b.batchStrides[0] = 0;
        checkBatched(p, threads);
      }
    }
  }
}

}  // namespace
}  // namespace camshaft::cpu
