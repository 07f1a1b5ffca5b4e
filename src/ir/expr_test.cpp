#include "ir/expr.h"

#include <gtest/gtest.h>

#include "support/error.h"
#include "support/text.h"

namespace camshaft {
namespace {

constexpr DataType kF32 = DataType::kF32;

Expr binary(ScalarOp op) {
  Expr expr;
  const int a = expr.input(0, kF32), b = expr.input(1, kF32);
  expr.apply(op, a, b);
  return expr;
}

TEST(Expr, SingleOperationIsRecognised) {
  EXPECT_TRUE(binary(ScalarOp::kAdd).isSingle(ScalarOp::kAdd));
  EXPECT_FALSE(binary(ScalarOp::kAdd).isSingle(ScalarOp::kMul));
  EXPECT_FALSE(parseExpr("add(x0:f32, 1:f32)").isSingle());
  EXPECT_FALSE(parseExpr("sub(x1:f32, x0:f32)").isSingle());
  EXPECT_FALSE(Expr().isSingle());
}

TEST(Expr, ComparisonsGiveBool) {
  EXPECT_EQ(binary(ScalarOp::kLess).resultType(), DataType::kBool);
  EXPECT_EQ(binary(ScalarOp::kMax).resultType(), kF32);
}

TEST(Expr, ConstantsAreAsTheTypeStoresThem) {
  Expr expr;
  const int a = expr.constant(0.1, kF32);
  EXPECT_EQ(expr.constant(static_cast<double>(0.1f), kF32), a);
  EXPECT_NE(expr.constant(0.0, kF32), expr.constant(-0.0, kF32));
  EXPECT_EQ(expr.code()[expr.constant(300.7, DataType::kI64)].integer, 300);
}

TEST(Expr, ComposedReplacesOneInput) {
  // mul(x0, x1) with x1 := relu(add(x0, x1)), whose inputs become 1 and 0 of the whole.
  const Expr whole =
      binary(ScalarOp::kMul).composed(1, parseExpr("relu(add(x0:f32, x1:f32))"), {1, 0}, {0, -1});
  EXPECT_EQ(toString(whole), "mul(x0:f32, relu(add(x1:f32, x0:f32)))");
  EXPECT_EQ(whole.inputCount(), 2);
}

TEST(Expr, ComposedSharesTheInnerResult) {
  const Expr square = parseExpr("mul(x0:f32, x0:f32)");
  EXPECT_EQ(toString(square.composed(0, parseExpr("exp(x0:f32)"), {0}, {-1})),
            "t0 = exp(x0:f32); mul(t0, t0)");
}

TEST(Expr, TextRoundTrips) {
  for (const char* text :
       {"x0:f32", "relu(add(x0:f32, x1:f32))", "cast(x0:f32, i8)", "0.1:f32", "-inf:f32", "0.1:f64",
        "where(less(x0:i64, 3:i64), x1:f16, 1e-05:f16)",
        "t0 = exp(x0:f32); div(t0, add(t0, 1:f32))",
        "t0 = neg(x0:i32); t1 = mul(t0, t0); sub(t1, max(t1, -9223372036854775808:i32))"}) {
    const Expr expr = parseExpr(text);
    EXPECT_EQ(parseExpr(toString(expr)), expr) << text;
  }
  EXPECT_EQ(toString(parseExpr("add( x0:f32 ,0.25:f32 )")), "add(x0:f32, 0.25:f32)");
  EXPECT_EQ(toString(parseExpr("")), "");
}

// As long as a sum of many inputs is, without calls in calls as deep.
TEST(Expr, LongChainsAreWrittenInPieces) {
  Expr chain;
  int sum = chain.input(0, DataType::kF32);
  for (int i = 1; i < 4000; ++i)
    sum = chain.apply(ScalarOp::kAdd, sum, chain.input(i, DataType::kF32));
  EXPECT_EQ(parseExpr(toString(chain)), chain);
  std::string deep = "x0:f32";
  for (int i = 0; i < 100000; ++i) deep = "exp(" + deep + ")";
  EXPECT_THROW(parseExpr(deep), Error);
}

TEST(Expr, BadTextIsRefused) {
  for (const char* text : {"add(x0:f32)", "nothing(x0:f32)", "x0", "x0:f33", "add(x0:f32, x1:i8)",
                           "add(x0:f32, x1:f32", "where(x0:f32, x1:f32, x2:f32)",
                           "add(x0:f32, x0:i8)", "t0; x0:f32", "x-1:f32", "input()", ":f32"})
    EXPECT_THROW(parseExpr(text), Error) << text;
}

TEST(Expr, KindsHaveNoScalesAndZeroPoints) {
  const auto kind = [](const char* scale, const char* zero, const char* type) {
    return kindOf(parseExpr(str("cast(min(max(add(round(div(x0:f32, ", scale, ":f32)), ", zero,
                                ":f32), 0:f32), 255:f32), ", type, ")")));
  };
  EXPECT_EQ(kind("0.25", "114", "u8"), kind("0.0371", "96", "u8"));
  EXPECT_NE(kind("0.25", "114", "u8"), kind("0.25", "0", "u8"));
  EXPECT_NE(kind("0.25", "114", "u8"), kind("0.25", "114", "i8"));
  EXPECT_NE(kind("0.25", "114", "i32"), kind("0.5", "114", "i32"));
  EXPECT_NE(kindOf(parseExpr("cast(div(x0:f32, 3:f32), u8)")),
            kindOf(parseExpr("cast(div(3:f32, x0:f32), u8)")));
}

}  // namespace
}  // namespace camshaft
