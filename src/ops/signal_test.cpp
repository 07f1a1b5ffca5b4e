#include <numbers>

#include "ops/fourier.h"
#include "testing/graph_text.h"

namespace camshaft::testing {
namespace {

using ::testing::HasSubstr;

// Lengths of small factors, primes that become convolutions, and products of both.
TEST(Fourier, IsTheSumItStandsFor) {
  for (const int64_t length : {1, 2, 3, 7, 8, 30, 31, 37, 64, 74, 97, 100, 211, 360, 1022}) {
    std::vector<Fourier::Complex> x(length), want(length);
    for (int64_t n = 0; n < length; ++n) x[n] = {std::sin(3.0 * n * n), std::cos(5.0 * n + 1)};
    for (int64_t k = 0; k < length; ++k)
      for (int64_t n = 0; n < length; ++n)
        want[k] += x[n] * std::polar(1.0, -2 * std::numbers::pi * ((k * n) % length) / length);
    std::vector<Fourier::Complex> y = x;
    const Fourier fourier(length);
    fourier.transform(y, false);
    for (int64_t k = 0; k < length; ++k)
      ASSERT_LT(std::abs(y[k] - want[k]), 1e-10) << length << ": " << k;
    fourier.transform(y, true);
    for (int64_t k = 0; k < length; ++k)
      ASSERT_LT(std::abs(y[k] - x[k]), 1e-12) << length << ": " << k;
  }
}

TEST(Dft, Infers) {
  const std::string real = "%x: f32[n, t, 1]", complex = "%x: f32[n, t, 2]";
  EXPECT_EQ(typeOf("n, t", real, "%y = Dft(%x) {axis = 1, length = t} return %y"), "f32[n, t, 2]");
  EXPECT_EQ(typeOf("n, t", real, "%y = Dft(%x) {axis = 1, length = 7, one_sided = true} return %y"),
            "f32[n, 4, 2]");
  EXPECT_EQ(typeOf("n, t", complex,
                   "%y = Dft(%x) {axis = 1, length = 9, one_sided = true, inverse = true} return "
                   "%y"),
            "f32[n, 9, 1]");
  EXPECT_THAT(refusalOf("%x: f32[3, 2]", "%y = Dft(%x) {axis = 1, length = 2} return %y"),
              HasSubstr("must be the real and imaginary part"));
  EXPECT_THAT(
      refusalOf("%x: f32[3, 2]", "%y = Dft(%x) {axis = 0, length = 2, one_sided = true} return %y"),
      HasSubstr("needs a real input"));
}

TEST(Dft, TransformsRealSignals) {  // numpy.fft.fft([1, 2, 0, -1])
  const std::string x = "%x: f32[4, 1] = constant [1, 2, 0, -1] ";
  expectValues(x + "%y = Dft(%x) {axis = 0, length = 4} return %y", {{2, 0, 1, -3, 0, 0, 1, 3}});
  expectValues(x + "%y = Dft(%x) {axis = 0, length = 4, one_sided = true} return %y",
               {{2, 0, 1, -3, 0, 0}});
  // Cut to two samples, padded to five.
  expectValues(x + "%y = Dft(%x) {axis = 0, length = 2} return %y", {{3, 0, -1, 0}});
  expectValues(x + "%y = Dft(%x) {axis = 0, length = 5, one_sided = true} return %y",
               {{2, 0, 2.427051, -2.489898, -0.927051, -0.224514}});
}

TEST(Dft, Inverts) {
  expectValues(
      "%x: f32[4, 2] = constant [2, 0, 1, -3, 0, 0, 1, 3] "
      "%y = Dft(%x) {axis = 0, length = 4, inverse = true} return %y",
      {{1, 0, 2, 0, 0, 0, -1, 0}});
  // numpy.fft.irfft, even and odd; the imaginary part of a bin that must be real is not read
  const std::string half = "%x: f32[3, 2] = constant [2, 0, 1, -3, 0, 5] ";
  expectValues(
      half + "%y = Dft(%x) {axis = 0, length = 4, inverse = true, one_sided = true} return %y",
      {{1, 2, 0, -1}});
  expectValues(
      half + "%y = Dft(%x) {axis = 0, length = 5, inverse = true, one_sided = true} return %y",
      {{0.8, 0.489304, 2.683849, -2.531062, 0.557909}});
}

TEST(Dft, TakesAnyAxis) {
  expectValues(
      "%x: f32[2, 3, 1] = constant [1, 2, 3, 4, 5, 6] "
      "%y = Dft(%x) {axis = 0, length = 2} return %y",
      {{5, 0, 7, 0, 9, 0, -3, 0, -3, 0, -3, 0}});
}

TEST(MelWeights, MatchesOnnx) {  // onnx.reference's MelWeightMatrix
  expectValues(R"(
    %n: i64[] = constant [16]
    %r: i64[] = constant [8192]
    %l: f32[] = constant [0]
    %u: f32[] = constant [4096]
    %y = MelWeights(%n, %r, %l, %u) {bins = 9, mel_bins = 4} return %y)",
               {{1, 0,   0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0,
                 0, 0.5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}});
}

}  // namespace
}  // namespace camshaft::testing
