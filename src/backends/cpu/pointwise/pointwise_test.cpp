#include <gtest/gtest.h>

#include <cmath>

#include "backends/cpu/kernel_harness.h"
#include "support/text.h"

namespace camshaft::cpu {
namespace {

std::string pointwise(const std::string& inputs, const std::string& operands,
                      const std::string& expr) {
  return "symbols n, m graph g(" + inputs + ") { %y = Pointwise(" + operands + ") {expr = " + expr +
         "} return %y }";
}
std::string unary(const std::string& type, const std::string& op) {
  return pointwise("%x: " + type + "[n, 7]", "%x", op + "(x0:" + type + ")");
}
std::string binary(const std::string& a, const std::string& b, const std::string& type,
                   const std::string& op) {
  return pointwise("%a: " + type + a + ", %b: " + type + b, "%a, %b",
                   op + "(x0:" + type + ", x1:" + type + ")");
}

using Sizes = std::vector<std::map<std::string, int64_t>>;
const Sizes kSizes = {
    {{"n", 1}, {"m", 1}}, {{"n", 3}, {"m", 5}}, {{"n", 311}, {"m", 70}}, {{"n", 13}, {"m", 1200}}};

TEST(Pointwise, UnaryFloat) {
  for (const char* op :
       {"neg",   "abs",        "sign",      "relu",      "floor", "ceil",    "round",
        "trunc", "reciprocal", "exp",       "sin",       "cos",   "tan",     "atan",
        "sinh",  "cosh",       "tanh",      "asinh",     "erf",   "sigmoid", "softplus",
        "silu",  "gelu",       "gelu_tanh", "hard_swish"})
    for (const char* type : {"f32", "f16", "bf16", "f64"})
      expectKernelsMatch(unary(type, op), kSizes);
}

TEST(Pointwise, UnaryFloatOfPositives) {
  for (const char* op : {"sqrt", "rsqrt", "log", "softplus", "asin", "acos", "atanh"})
    expectKernelsMatch(
        {.graph = unary("f32", op), .sizes = kSizes, .ranges = {{"x", {0.01, 0.99}}}});
  expectKernelsMatch({.graph = unary("f32", "acosh"), .sizes = kSizes, .ranges = {{"x", {1, 9}}}});
  expectKernelsMatch(
      {.graph = unary("f32", "softplus"), .sizes = kSizes, .ranges = {{"x", {-30, 30}}}});
}

TEST(Pointwise, IntegersAndBool) {
  for (const char* type : {"i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"})
    for (const char* op : {"add", "sub", "mul", "div", "floor_div", "mod", "fmod", "min", "max",
                           "bit_and", "bit_or", "bit_xor", "equal", "less", "greater_equal"})
      expectKernelsMatch(binary("[n, m]", "[m]", type, op), kSizes);
  for (const char* op : {"and", "or", "xor", "equal"})
    expectKernelsMatch(binary("[n, m]", "[n, 1]", "bool", op), kSizes);
  expectKernelsMatch(unary("bool", "not"), kSizes);
  expectKernelsMatch(unary("i32", "bit_not"), kSizes);
}

// Sums and products of dequantised bytes that are quantised again, and curves over one byte.
TEST(Pointwise, Bytes) {
  const auto quantised = [](const std::string& value, const std::string& type) {
    return "cast(min(max(add(round(div(" + value + ", 0.2971:f32)), 3:f32), " +
           (type == "i8" ? "-128:f32), 127:f32), i8)" : "0:f32), 255:f32), u8)");
  };
  for (const std::string type : {"u8", "i8"}) {
    const std::string x = "mul(sub(cast(x0:" + type + ", f32), 4:f32), 0.11373:f32)";
    const std::string y = "mul(cast(x1:" + type + ", f32), 0.013191:f32)";
    for (const std::string shape : {"[n, m]", "[m]", "[n, 1]", "[]"}) {
      const std::string inputs = "%a: " + type + "[n, m], %b: " + type + shape;
      for (const std::string op : {"add", "mul"})
        expectKernelsMatch(
            pointwise(inputs, "%a, %b", quantised("relu(" + op + "(" + x + ", " + y + "))", type)),
            kSizes);
      expectKernelsMatch(pointwise("%a: " + type + "[n, m], %b: f32" + shape, "%a, %b",
                                   quantised("mul(" + x + ", x1:f32)", type)),
                         kSizes);
    }
    expectKernelsMatch(
        pointwise("%a: " + type + "[n, m]", "%a", quantised("sigmoid(" + x + ")", "i8")), kSizes);
    expectKernelsMatch(pointwise("%a: " + type + "[n, m]", "%a", x), kSizes);
    expectKernelsMatch({.graph = pointwise("%a: f32[n, m]", "%a", quantised("x0:f32", type)),
                        .sizes = kSizes,
                        .ranges = {{"a", {-50, 90}}}});
  }
}

std::string quantised(const std::string& value, double scale, int zero, const std::string& type) {
  return str("cast(min(max(add(round(div(", value, ", ", scale, ":f32)), ", zero,
             type == "i8" ? ":f32), -128:f32), 127:f32), i8)" : ":f32), 0:f32), 255:f32), u8)");
}

// Ties and their neighbours, what is beyond all bytes, and no numbers.
TEST(Pointwise, QuantisesAsDefined) {
  for (const float scale : {0.0171f, 0.1f, 0.125f, 1.0f, 0x1p-70f, 3e-39f}) {
    std::vector<double> numbers;
    for (int n = -300; n < 300; ++n) {
      auto x = static_cast<float>((n + 0.5) * static_cast<double>(scale));
      x = std::nextafter(std::nextafter(x, -HUGE_VALF), -HUGE_VALF);
      for (int i = 0; i < 5; ++i, x = std::nextafter(x, HUGE_VALF)) numbers.push_back(x);
    }
    for (const double x : {0.0, 1e-45, 1e10, 1.2e7, 3e38, HUGE_VAL, std::nan("")})
      numbers.push_back(x), numbers.push_back(-x);
    for (const std::string type : {"u8", "i8"})
      for (const int zero : {0, 120, 121})
        for (const std::string x :
             {"x0:f32", "add(x0:f32, x1:f32)", "relu(x0:f32)", "min(mul(x0:f32, x1:f32), -2:f32)"})
          expectKernelsMatch(
              {.graph = pointwise("%x: f32[3041], %z: f32[]",
                                  x.find("x1") != std::string::npos ? "%x, %z" : "%x",
                                  quantised(x, scale, zero, type)),
               .values = {{"x", numbers}, {"z", {0}}}});
  }
}

// All pairs of bytes, with scales of which many sums are ties or next to them.
TEST(Pointwise, JoinsBytesAsDefined) {
  std::vector<double> rows, columns;
  for (int i = 0; i < 65536; ++i) rows.push_back(i / 256), columns.push_back(i % 256);
  struct Scales {
    double x, y, result;
  };
  for (const auto& [x, y, result] :
       {Scales{0.1, 0.1, 0.2}, Scales{0.0171, 0.0342, 0.0684}, Scales{0.3, 0.21, 0.37},
        Scales{0.125, 0.5, 0.25}, Scales{0.01, 0.02, 0.003},
        Scales{0.0235294122, 0.1, 0.0470588244}})
    for (const std::string type : {"u8", "i8"}) {
      std::vector<double> a = rows, b = columns;
      if (type == "i8")
        for (size_t i = 0; i < a.size(); ++i) a[i] -= 128, b[i] -= 128;
      for (const std::string op : {"add", "sub", "mul"})
        expectKernelsMatch(
            {.graph = pointwise(
                 str("%a: ", type, "[65536], %b: ", type, "[65536]"), "%a, %b",
                 quantised(str(op, "(mul(sub(cast(x0:", type, ", f32), 4:f32), ", x,
                               ":f32), mul(sub(cast(x1:", type, ", f32), 100:f32), ", y, ":f32))"),
                           result, 3, type)),
             .values = {{"a", a}, {"b", b}}});
    }
}

TEST(Pointwise, BinaryFloat) {
  for (const char* op : {"add", "sub", "mul", "div", "min", "max", "equal", "not_equal", "less",
                         "less_equal", "greater", "greater_equal"}) {
    expectKernelsMatch(binary("[n, m]", "[n, m]", "f32", op), kSizes);
    expectKernelsMatch(binary("[n, m]", "[]", "f32", op), kSizes);
  }
  expectKernelsMatch(
      {.graph = binary("[n, m]", "[m]", "f32", "pow"), .sizes = kSizes, .ranges = {{"a", {0, 3}}}});
  expectKernelsMatch(
      {.graph = binary("[n, m]", "[m]", "f32", "mod"), .sizes = kSizes, .ranges = {{"b", {1, 3}}}});
}

TEST(Pointwise, Broadcasting) {
  for (const char* type : {"f32", "f16", "i64"}) {
    for (auto [a, b] : {std::pair{"[n, m]", "[m]"},
                        {"[n, m]", "[n, 1]"},
                        {"[n, 1]", "[1, m]"},
                        {"[]", "[n, m]"},
                        {"[2, n, 3, 4]", "[n, 1, 1]"},
                        {"[2, n, m, 1]", "[1, n, 1, 5]"},
                        {"[m, 1, n]", "[1, 3, 1]"},
                        {"[2, n, 1, m]", "[2, 1, 3, m]"},
                        {"[n, 3]", "[3]"},
                        {"[]", "[]"}})
      expectKernelsMatch(binary(a, b, type, "sub"), kSizes);
  }
}

TEST(Pointwise, Casts) {
  for (const char* from : {"f32", "f16", "bf16", "f64", "i8", "i32", "i64", "u8", "bool", "f8e4m3"})
    for (const char* to : {"f32", "f16", "bf16", "f64", "i8", "i32", "i64", "u8", "bool", "f8e4m3"})
      expectKernelsMatch(pointwise(std::string("%x: ") + from + "[n, 7]", "%x",
                                   std::string("cast(x0:") + from + ", " + to + ")"),
                         kSizes);
}

TEST(Pointwise, LongExpressions) {
  expectKernelsMatch(
      pointwise("%x: f32[n, m], %s: f32[m], %c: bool[n, 1]", "%x, %s, %c",
                "t0 = mul(x0:f32, x1:f32); t1 = add(t0, 1.5:f32); "
                "where(x2:bool, mul(t0, sigmoid(t1)), sub(max(t1, x0:f32), tanh(t0)))"),
      kSizes);
  // Quantise: rounded, shifted, clamped and cast.
  expectKernelsMatch(
      pointwise("%x: f32[n, m]", "%x",
                "cast(min(max(add(round(div(x0:f32, 0.05:f32)), 128:f32), 0:f32), 255:f32), u8)"),
      kSizes);
  expectKernelsMatch(pointwise("%x: f16[n, m], %b: f32[m]", "%x, %b",
                               "cast(add(cast(relu(x0:f16), f32), x1:f32), bf16)"),
                     kSizes);
}

TEST(Pointwise, CopiesAndConstants) {
  expectKernelsMatch(pointwise("%x: f32[n, 1], %b: f32[1, m]", "%x, %b",
                               "where(greater(x1:f32, 0:f32), x0:f32, x1:f32)"),
                     kSizes);
  expectKernelsMatch(pointwise("%x: f32[n, m]", "%x", "x0:f32"), kSizes);
}

TEST(Pointwise, RefusesShapesThatDoNotBroadcast) {
  const std::string message =
      launchErrorOf({.graph = binary("[n]", "[m]", "f32", "add"), .sizes = {{{"n", 3}, {"m", 4}}}});
  EXPECT_NE(message.find("does not broadcast"), std::string::npos) << message;
  EXPECT_NE(refusalsOf(pointwise("%x: i4[8]", "%x", "cast(x0:i4, f32)")).find("share bytes"),
            std::string::npos);
}

}  // namespace
}  // namespace camshaft::cpu
