#include "backends/cuda/codegen/quantiser.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "backends/cuda/codegen/kernel_text.h"
#include "backends/cuda/kernel_harness.h"
#include "support/half.h"
#include "support/text.h"

namespace camshaft::cuda {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr float kInfinity = std::numeric_limits<float>::infinity();

std::optional<Quantisation> quantisationOf(const std::string& text) {
  const Expr expr = parseExpr(text);
  return quantisationAt(expr, static_cast<int>(expr.code().size()) - 1);
}

TEST(CudaQuantiser, BoundsThatSaturationMakesSuperfluousAreDropped) {
  const auto isOfInput = [](const std::string& x, const std::string& zero) {
    const auto q = quantisationOf(str("cast(min(max(add(round(div(", x, ", 0.1:f32)), ", zero,
                                      ":f32), 0:f32), 255:f32), u8)"));
    return q && q->x == 0;
  };
  EXPECT_TRUE(isOfInput("relu(x0:f32)", "0"));
  EXPECT_TRUE(isOfInput("max(x0:f32, -1:f32)", "3"));
  EXPECT_TRUE(isOfInput("min(relu(x0:f32), 25.5:f32)", "0"));
  EXPECT_FALSE(isOfInput("relu(x0:f32)", "1"));
  EXPECT_FALSE(isOfInput("min(relu(x0:f32), 6:f32)", "0"));
}

TEST(CudaQuantiser, OtherBytesAreNotQuantised) {
  EXPECT_TRUE(quantisationOf("cast(round(x0:f32), u8)"));
  EXPECT_FALSE(quantisationOf("cast(x0:f32, u8)"));
  EXPECT_FALSE(quantisationOf("cast(min(round(x0:f32), 100:f32), u8)"));
  EXPECT_FALSE(quantisationOf("cast(add(round(x0:f32), 0.5:f32), u8)"));
  EXPECT_FALSE(quantisationOf("cast(add(round(x0:f32), x1:f32), i8)"));
  EXPECT_FALSE(quantisationOf("cast(round(x0:f32), i16)"));
}

std::string quantised(const std::string& x, double scale, int zero, bool isSigned) {
  return str("cast(min(max(add(round(div(", x, ", ", scale, ":f32)), ", zero, ":f32), ",
             isSigned ? -128 : 0, ":f32), ", isSigned ? 127 : 255, ":f32), ",
             isSigned ? "i8" : "u8", ")");
}

// A product and a sum behind it are two roundings, as they are on CPUs, where quantisation may show
// it.
TEST(CudaQuantiser, SumsOfIntegersAreRoundedStepByStep) {
  const auto text = [](const std::string& expr) {
    std::string body;
    const std::vector<std::string> inputs = {"x", "y", "z"};
    printExpr(parseExpr(expr), inputs, "t", body);
    return body;
  };
  const std::string sums = "add(mul(cast(x0:i32, f32), x1:f32), x2:f32)";
  EXPECT_THAT(text(sums), HasSubstr("__fmul_rn"));
  EXPECT_THAT(text(quantised(sums, 0.1, 0, false)), HasSubstr("__fmul_rn"));
  EXPECT_THAT(text("cast(" + sums + ", f16)"), Not(HasSubstr("__fmul_rn")));
  EXPECT_THAT(text("add(mul(x0:f32, x1:f32), x2:f32)"), Not(HasSubstr("__fmul_rn")));
}

TEST(CudaQuantiser, NoDivisionIsPrinted) {
  std::string body;
  const std::vector<std::string> inputs = {"x"};
  const PrintedElement element =
      printElement(parseExpr(quantised("relu(x0:f32)", 0.1, 0, false)), inputs, "t", body);
  EXPECT_EQ(element.type, "float");
  EXPECT_EQ(element.pack, "toRoundedBytes");
  EXPECT_THAT(body, HasSubstr("quotient(t0, "));
  for (const char* gone : {"Div", "Round", "Relu", "Min"}) EXPECT_THAT(body, Not(HasSubstr(gone)));
}

// Ties and their neighbours, what is beyond all bytes, and no numbers.
std::vector<double> hardNumbers(float scale) {
  std::vector<double> numbers;
  for (int n = -300; n < 300; ++n) {
    auto x = static_cast<float>((n + 0.5) * static_cast<double>(scale));
    x = std::nextafter(std::nextafter(x, -kInfinity), -kInfinity);
    for (int i = 0; i < 5; ++i, x = std::nextafter(x, kInfinity)) numbers.push_back(x);
  }
  for (const double x : {0.0, 1e-45, 1e10, 1.2e7, 3e38, HUGE_VAL, std::nan("")})
    numbers.push_back(x), numbers.push_back(-x);
  while (numbers.size() % 16 != 0) numbers.push_back(0);
  return numbers;
}

// Kernels and the definition give the same bytes, and the same floats behind them.
TEST(CudaQuantiser, BytesAreThoseOfTheDefinition) {
  constexpr float kScale = 0.0171f;
  const std::vector<double> numbers = hardNumbers(kScale);
  const auto expectExact = [&](const std::string& expr, int64_t count) {
    expectKernelsMatch({.graph = str("graph g(%x: f32[", count,
                                     "]) { %y = Pointwise(%x) {expr = ", expr, "} return %y }"),
                        .values = {{"x", numbers}},
                        .tolerance = 0});
  };
  const auto size = static_cast<int64_t>(numbers.size());
  for (const bool isSigned : {false, true})
    for (const int zero : {0, 120, 121, -7}) {
      if (zero < 0 && !isSigned) continue;
      if (zero > 120 && isSigned) continue;
      const std::string bytes = quantised("x0:f32", kScale, zero, isSigned);
      expectExact(bytes, size);
      expectExact(bytes, 37);
      expectExact(str("mul(sub(cast(", bytes, ", f32), ", zero, ":f32), 0.3:f32)"), size);
      expectExact(str("cast(", bytes, ", f32)"), size);
      expectExact(str("sub(cast(", bytes, ", f32), 3:f32)"), size);
    }
  expectExact(quantised("relu(x0:f32)", kScale, 0, false), size);
  expectExact(quantised("relu(x0:f32)", kScale, 9, false), size);
  expectExact(quantised("x0:f32", 0.125, 3, false), size);
}

// The same of floats of 8 bits, whose steps are wider the larger they are.
TEST(CudaQuantiser, FloatsOf8BitsAreThoseOfTheDefinition) {
  constexpr float kScale = 0.0171f;
  std::vector<double> numbers;
  for (int bits = 0; bits < 0x7e; ++bits) {
    const auto value = [](int of) {
      return static_cast<double>(
          static_cast<float>(Float8E4M3::fromBits(static_cast<uint8_t>(of))));
    };
    auto x = static_cast<float>((value(bits) + value(bits + 1)) / 2 * static_cast<double>(kScale));
    x = std::nextafter(std::nextafter(x, -kInfinity), -kInfinity);
    for (int i = 0; i < 5; ++i, x = std::nextafter(x, kInfinity)) numbers.push_back(i % 2 ? x : -x);
  }
  for (const double x : {0.0, 1e-45, 1e10, 3e38, HUGE_VAL})
    numbers.push_back(x), numbers.push_back(-x);
  while (numbers.size() % 16 != 0) numbers.push_back(0);
  for (const char* type : {"f8e4m3", "f8e5m2"})
    for (const size_t count : {numbers.size(), size_t{37}})
      for (const char* wide : {"cast(cast(div(x0:f32, 0.0171:f32), T), f32)",
                               "mul(cast(cast(div(x0:f32, 0.0171:f32), T), f32), 0.3:f32)"}) {
        std::string expr = wide;
        expr.replace(expr.find(" T)") + 1, 1, type);
        expectKernelsMatch({.graph = str("graph g(%x: f32[", count,
                                         "]) { %y = Pointwise(%x) {expr = ", expr, "} return %y }"),
                            .values = {{"x", numbers}},
                            .tolerance = 0});
        const std::string stored = str("cast(div(x0:f32, 0.0171:f32), ", type, ")");
        expectKernelsMatch(
            {.graph = str("graph g(%x: f32[", count, "]) { %q = Pointwise(%x) {expr = ", stored,
                          "} %y = Pointwise(%q) {expr = cast(x0:", type, ", f32)} return %y }"),
             .values = {{"x", numbers}},
             .tolerance = 0});
      }
}

TEST(CudaQuantiser, NoDivisionIsPrintedBeforeFloatsOf8Bits) {
  const std::vector<std::string> inputs = {"x"};
  const auto printed = [&](const std::string& expr) {
    std::string body;
    printElement(parseExpr(expr), inputs, "t", body);
    return body;
  };
  const std::string last = printed("cast(div(x0:f32, 0.1:f32), f8e4m3)");
  EXPECT_THAT(last, HasSubstr("quotient(t0, "));
  for (const char* gone : {"Div", "rounded"}) EXPECT_THAT(last, Not(HasSubstr(gone)));
  EXPECT_THAT(printed("cast(cast(div(x0:f32, 0.1:f32), f8e5m2), f32)"),
              HasSubstr("rounded<f8e5m2>"));
  EXPECT_THAT(printed("t = div(x0:f32, 0.1:f32); add(t, cast(cast(t, f8e5m2), f32))"),
              HasSubstr("Div"));
  EXPECT_THAT(printed("cast(relu(x0:f32), f16)"), Not(HasSubstr("rounded")));
}

TEST(CudaQuantiser, BytesBecomeFloatsAsDefined) {
  for (const char* type : {"u8", "i8"}) {
    std::vector<double> all;
    for (int i = 0; i < 256; ++i) all.push_back(type[0] == 'u' ? i : i - 128);
    for (const int64_t count : {256, 255})
      for (const char* expr :
           {"cast(x0:T, f32)", "sub(cast(x0:T, f32), 7:f32)", "mul(cast(x0:T, f32), 0.1:f32)",
            "mul(cast(x0:T, f32), -0.1:f32)", "mul(sub(cast(x0:T, f32), 121:f32), 0.1:f32)",
            "cast(add(x0:T, 3:T), f32)", "cast(x0:T, i32)"}) {
        std::string text = expr;
        for (size_t at; (at = text.find(":T")) != std::string::npos;)
          text.replace(at, 2, str(":", type));
        expectKernelsMatch({.graph = str("graph g(%x: ", type, "[", count,
                                         "]) { %y = Pointwise(%x) {expr = ", text, "} return %y }"),
                            .values = {{"x", all}},
                            .tolerance = 0});
      }
  }
}

}  // namespace
}  // namespace camshaft::cuda
