#include "ops/pointwise.h"

#include "testing/graph_text.h"

namespace camshaft::testing {
namespace {

using ::testing::HasSubstr;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

TEST(Pointwise, AddsWithBroadcast) {
  expectValues(
      "%a: f32[2, 1] = constant [1, 2] %b: f32[3] = constant [10, 20, 30] "
      "%y = Pointwise(%a, %b) {expr = add(x0:f32, x1:f32)} return %y",
      {{11, 21, 31, 12, 22, 32}});
}

TEST(Pointwise, FollowsAChain) {
  expectValues(
      "%a: f32[3] = constant [-1, 0, 2] %b: f32[] = constant [3] "
      "%y = Pointwise(%a, %b) {expr = t0 = relu(x0:f32); add(mul(t0, x1:f32), sub(t0, 1:f32))} "
      "return %y",
      {{-1, -1, 7}});
}

TEST(Pointwise, CoversManyBlocks) {
  // More elements than one block holds, against a row that repeats out of step with it.
  Graph graph = parseBody(
      "%r: f32[7] = constant [0, 1, 2, 3, 4, 5, 6] %c: f32[100, 7] = constant splat 10 "
      "%y = Pointwise(%c, %r) {expr = add(x0:f32, x1:f32)} return %y");
  const auto numbers = numbersOf(evaluateGraph(graph, {})[0]);
  for (size_t i = 0; i < numbers.size(); ++i) ASSERT_EQ(numbers[i], 10.0 + i % 7);
}

TEST(Pointwise, EmptyTensors) {
  expectValues(
      "%a: f32[0, 3] = constant [] %b: f32[3] = constant [1, 2, 3] "
      "%y = Pointwise(%a, %b) {expr = add(x0:f32, x1:f32)} return %y",
      {{}});
}

TEST(Pointwise, NarrowFloatsRoundAfterEveryStep) {
  // 2048 + 1 is not an f16: the sum rounds back to 2048 before 2048 is taken away.
  expectValues(
      "%a: f16[1] = constant [2048] "
      "%y = Pointwise(%a) {expr = sub(add(x0:f16, 1:f16), 2048:f16)} "
      "%z = Pointwise(%a) {expr = sub(add(cast(x0:f16, f32), 1:f32), 2048:f32)} return %y, %z",
      {{0}, {1}});
}

TEST(Pointwise, IntegersKeepTheirWidth) {
  expectValues(
      "%a: u8[2] = constant [200, 1] %b: i32[3] = constant [-7, 7, -2147483648] "
      "%y = Pointwise(%a) {expr = add(x0:u8, 100:u8)} "
      "%q = Pointwise(%b) {expr = div(x0:i32, 2:i32)} "
      "%f = Pointwise(%b) {expr = floor_div(x0:i32, 2:i32)} "
      "%m = Pointwise(%b) {expr = mod(x0:i32, 3:i32)} "
      "%n = Pointwise(%b) {expr = div(x0:i32, -1:i32)} "
      "%z = Pointwise(%b) {expr = div(x0:i32, 0:i32)} return %y, %q, %f, %m, %n, %z",
      {{44, 101},
       {-3, 3, -1073741824},
       {-4, 3, -1073741824},
       {2, 1, 1},
       {7, -7, -2147483648.0},
       {0, 0, 0}},
      0);
}

TEST(Pointwise, IntegerPowersAreExact) {
  expectValues(
      "%a: i64[4] = constant [3, -2, 2, -1] %b: i64[4] = constant [20, 3, -1, -3] "
      "%y = Pointwise(%a, %b) {expr = pow(x0:i64, x1:i64)} return %y",
      {{3486784401, -8, 0, -1}}, 0);
}

TEST(Pointwise, Casts) {
  expectValues(
      "%a: f32[6] = constant [1.9, -1.9, nan, 300, -inf, 0] "
      "%i = Pointwise(%a) {expr = cast(x0:f32, i8)} %b = Pointwise(%a) {expr = cast(x0:f32, bool)} "
      "%u = Pointwise(%a) {expr = cast(x0:f32, u64)} return %i, %b, %u",
      {{1, -1, 0, 127, -128, 0}, {1, 1, 1, 1, 1, 0}, {1, 0, 0, 300, 0, 0}}, 0);
  expectValues(
      "%a: i32[3] = constant [300, -1, 0] %u = Pointwise(%a) {expr = cast(x0:i32, u8)} "
      "%f = Pointwise(%a) {expr = cast(x0:i32, f16)} return %u, %f",
      {{44, 255, 0}, {300, -1, 0}}, 0);
}

TEST(Pointwise, PackedIntegers) {
  expectValues(
      "%a: i4[3] = constant hex:8f07 %y = Pointwise(%a) {expr = cast(x0:i4, f32)} "
      "%x: f32[3] = constant [-20, 3.7, 9] %p = Pointwise(%x) {expr = cast(x0:f32, i4)} "
      "%z = Pointwise(%p) {expr = cast(x0:i4, i32)} return %y, %z",
      {{-1, -8, 7}, {-4, 3, -7}}, 0);  // low bits of -20, 3 and 9
  expectValues(
      "%x: f32[5] = constant [-3, -1, 1, 2, 4] %i = Pointwise(%x) {expr = cast(x0:f32, i2)} "
      "%u = Pointwise(%x) {expr = cast(x0:f32, u2)} %y = Pointwise(%i) {expr = cast(x0:i2, f32)} "
      "%z = Pointwise(%u) {expr = cast(x0:u2, i64)} return %y, %z",
      {{1, -1, 1, -2, 0}, {1, 3, 1, 2, 0}}, 0);
}

TEST(Pointwise, FloatsOfEightBits) {
  expectValues(
      "%x: f32[5] = constant [0.3, -1000, -0.0, inf, 3] "
      "%a = Pointwise(%x) {expr = cast(x0:f32, f8e4m3fnuz)} "
      "%b = Pointwise(%x) {expr = cast(x0:f32, f8e5m2fnuz)} "
      "%c = Pointwise(%x) {expr = cast(x0:f32, f8e8m0)} "
      "%d = Pointwise(%c) {expr = cast(x0:f8e8m0, f32)} return %a, %b, %d",
      {{0.3125, -240, 0, 240, 3},
       {0.3125, -1024, 0, 57344, 3},
       {0.5, 1024, std::ldexp(1.0, -127), std::ldexp(1.0, 127), 4}},
      0);
}

TEST(Pointwise, ComparesAndSelects) {
  expectValues(
      "%a: f32[3] = constant [1, nan, 3] %b: f32[3] = constant [2, 2, 2] "
      "%y = Pointwise(%a, %b) {expr = where(less(x0:f32, x1:f32), x0:f32, x1:f32)} "
      "%n = Pointwise(%a, %b) {expr = min(x0:f32, x1:f32)} "
      "%o = Pointwise(%a, %b) {expr = or(greater(x0:f32, x1:f32), equal(x0:f32, 1:f32))} return "
      "%y, %n, %o",
      {{1, 2, 2}, {1, kNan, 2}, {1, 0, 1}});
}

TEST(Pointwise, Functions) {
  expectValues(
      "%a: f64[2] = constant [0.5, -1.5] %y = Pointwise(%a) {expr = gelu(x0:f64)} "
      "%s = Pointwise(%a) {expr = sigmoid(x0:f64)} %h = Pointwise(%a) {expr = hard_swish(x0:f64)} "
      "%r = Pointwise(%a) {expr = round(x0:f64)} %p = Pointwise(%a) {expr = softplus(x0:f64)} "
      "return %y, %s, %h, %r, %p",
      {{0.345731, -0.100211},
       {0.622459, 0.182426},
       {0.291667, -0.375},
       {0, -2},
       {0.974077, 0.201413}});
}

TEST(Pointwise, SymbolicShapesBroadcast) {
  EXPECT_EQ(typeOf("n, m", "%a: f32[n, 1, 4], %b: f32[m, 1]",
                   "%y = Pointwise(%a, %b) {expr = less(x0:f32, x1:f32)} return %y"),
            "bool[n, m, 4]");
  const Dim n = Dim::symbol("n");
  EXPECT_EQ(toString(broadcastShapes({n}, {3}, "here")), "[3]");
  // Neither is 1 where the other is more: the larger one is the result's.
  EXPECT_EQ(toString(broadcastShapes({min(n, 8)}, {n}, "here")), "[n]");
  EXPECT_EQ(toString(broadcastShapes({n}, {max(n, 2)}, "here")), "[max(2, n)]");
  // Either may be 1.
  const Dim m = Dim::symbol("m");
  EXPECT_EQ(toString(broadcastShapes({n}, {m}, "here")), "[broadcast(m, n)]");
}

TEST(Pointwise, RefusesWhatDoesNotFit) {
  EXPECT_THAT(refusalOf("%a: f32[2], %b: f32[3]",
                        "%y = Pointwise(%a, %b) {expr = add(x0:f32, x1:f32)} return %y"),
              HasSubstr("node 'y' (Pointwise) has shapes [2] and [3] that do not broadcast"));
  EXPECT_THAT(refusalOf("%a: f16[2]", "%y = Pointwise(%a) {expr = neg(x0:f32)} return %y"),
              HasSubstr("reads input 0 as f32 where it is f16[2]"));
  EXPECT_THAT(refusalOf("%a: i32[2]", "%y = Pointwise(%a) {expr = exp(x0:i32)} return %y"),
              HasSubstr("applies 'exp' to elements of type i32"));
  EXPECT_THAT(refusalOf("%a: i32[2]", "%y = Pointwise(%a, %a) {expr = neg(x0:i32)} return %y"),
              HasSubstr("has 2 inputs and an expression of 1"));
}

TEST(PointwiseParts, RefusesPartsThatLieOutside) {
  const auto refusal = [](const std::string& begin, const std::string& size) {
    return refusalOf("%a: f32[4]",
                     "%y = PointwiseParts(%a) {outputs = 1, shape0 = [4], parts = 1, output0 = 0, "
                     "begin0 = [" +
                         begin + "], size0 = [" + size +
                         "], expr0 = x0:f32, inputs0 = [0], places0 = [0, 1]} return %y");
  };
  EXPECT_THAT(refusal("3", "2"), HasSubstr("places along a dimension"));
  EXPECT_THAT(refusal("-1", "2"), HasSubstr("as the begin of a part"));
}

TEST(Pointwise, SizesThatTurnOutDifferentAreAnError) {
  const Graph graph = parseBody("%y = Pointwise(%a, %b) {expr = add(x0:f32, x1:f32)} return %y",
                                "%a: f32[n], %b: f32[m]");
  const HostTensor a(DataType::kF32, {4}), b(DataType::kF32, {2});
  const ConstTensorView inputs[] = {a.view(), b.view()};
  EXPECT_THROW(evaluateGraph(graph, inputs), Error);
}

TEST(Pointwise, HelpersMakeSingleOperations) {
  Graph graph = parseBody("return %x", "%x: f16[2]");
  Value* scaled = addBinary(graph, ScalarOp::kMul, "scaled", graph.find("x"),
                            addScalar(graph, "half", DataType::kF16, 0.5));
  Value* cast =
      addCast(graph, "cast", addUnary(graph, ScalarOp::kRelu, "relu", scaled), DataType::kF32);
  EXPECT_EQ(toText(*cast->producer), "%cast: f32[2] = Pointwise(%relu) {expr = cast(x0:f16, f32)}");
  EXPECT_EQ(toText(*scaled->producer),
            "%scaled: f16[2] = Pointwise(%x, %half) {expr = mul(x0:f16, x1:f16)}");
  verify(graph, "building");
}

TEST(Identity, CopiesAnything) {
  expectValues("%a: i64[2] = constant [1, -2] %y = Identity(%a) return %y", {{1, -2}});
}

}  // namespace
}  // namespace camshaft::testing
