#include "ops/move.h"

#include "testing/graph_text.h"

namespace camshaft::testing {
namespace {

using ::testing::HasSubstr;

const std::string kMatrix = "%x: f32[2, 3] = constant [1, 2, 3, 4, 5, 6] ";

TEST(Transpose, Permutes) {
  expectValues(kMatrix + "%y = Transpose(%x) {order = [1, 0]} return %y", {{1, 4, 2, 5, 3, 6}});
  expectValues(
      "%x: u8[1, 2, 3] = constant [1, 2, 3, 4, 5, 6] %y = Transpose(%x) {order = [2, 0, 1]} return "
      "%y",
      {{1, 4, 2, 5, 3, 6}});
  expectValues("%x: f32[2, 0] = constant [] %y = Transpose(%x) {order = [1, 0]} return %y", {{}});
  EXPECT_EQ(typeOf("n, h", "%x: f32[n, 3, h]", "%y = Transpose(%x) {order = [2, 0, 1]} return %y"),
            "f32[h, n, 3]");
  EXPECT_THAT(refusalOf("%x: f32[2, 3]", "%y = Transpose(%x) {order = [1, 1]} return %y"),
              HasSubstr("no permutation"));
}

TEST(Transpose, MovesPackedElements) {
  expectValues(
      "%x: i4[2, 2] = constant hex:2143 %y = Transpose(%x) {order = [1, 0]} "
      "%z = Pointwise(%y) {expr = cast(x0:i4, i32)} return %z",
      {{1, 3, 2, 4}});
  expectValues(
      "%x: u2[2, 2] = constant hex:e4 %y = Transpose(%x) {order = [1, 0]} "
      "%z = Pointwise(%y) {expr = cast(x0:u2, i32)} return %z",
      {{0, 2, 1, 3}});
}

TEST(BitCast, KeepsBits) {
  expectValues("%x: f32[2] = constant [1, -0.0] %y = BitCast(%x) {to = i32} return %y",
               {{0x3f800000, -2147483648.0}});
  expectValues("%x: u8[2] = constant [124, 60] %y = BitCast(%x) {to = f8e5m2} return %y",
               {{std::numeric_limits<double>::infinity(), 1}});
  EXPECT_THAT(refusalOf("%x: f32[2]", "%y = BitCast(%x) {to = i64} return %y"),
              HasSubstr("cannot read the bits of f32 as i64"));
  EXPECT_THAT(refusalOf("%x: u8[2]", "%y = BitCast(%x) {to = bool} return %y"),
              HasSubstr("cannot read the bits of u8 as bool"));
}

TEST(Reshape, KeepsElements) {
  expectValues(kMatrix + "%y = Reshape(%x) {shape = [3, 1, 2]} return %y", {{1, 2, 3, 4, 5, 6}});
  EXPECT_EQ(typeOf("n", "%x: f32[n, 4, 2]", "%y = Reshape(%x) {shape = [2*n, 4]} return %y"),
            "f32[2*n, 4]");
  EXPECT_THAT(refusalOf("%x: f32[2, 3]", "%y = Reshape(%x) {shape = [4]} return %y"),
              HasSubstr("cannot reshape f32[2, 3] to [4]"));
  EXPECT_THAT(refusalOf("%x: f32[n, 3]", "%y = Reshape(%x) {shape = [3*n + 1]} return %y"),
              HasSubstr("cannot reshape"));
}

TEST(Expand, Repeats) {
  expectValues("%x: f32[2, 1] = constant [1, 2] %y = Expand(%x) {shape = [2, 2, 3]} return %y",
               {{1, 1, 1, 2, 2, 2, 1, 1, 1, 2, 2, 2}});
  expectValues("%x: f32[] = constant [7] %y = Expand(%x) {shape = [0, 2]} return %y", {{}});
  EXPECT_THAT(refusalOf("%x: f32[2, 3]", "%y = Expand(%x) {shape = [3]} return %y"),
              HasSubstr("does not broadcast"));
  EXPECT_THAT(refusalOf("%x: f32[2]", "%y = Expand(%x) {shape = [3]} return %y"),
              HasSubstr("does not broadcast"));
}

TEST(Slice, StepsBothWays) {
  expectValues(
      kMatrix + "%y = Slice(%x) {axes = [1], starts = [1], sizes = [2], steps = [1]} return %y",
      {{2, 3, 5, 6}});
  expectValues(kMatrix +
                   "%y = Slice(%x) {axes = [1, 0], starts = [2, 1], sizes = [2, 2], steps = [-2, "
                   "-1]} return %y",
               {{6, 4, 3, 1}});
  expectValues(
      kMatrix + "%y = Slice(%x) {axes = [0], starts = [0], sizes = [0], steps = [1]} return %y",
      {{}});
  EXPECT_EQ(
      typeOf("n", "%x: f32[n, 3]",
             "%y = Slice(%x) {axes = [0], starts = [1], sizes = [n - 1], steps = [1]} return %y"),
      "f32[n - 1, 3]");
}

TEST(Slice, RefusesWhatIsOutside) {
  const auto slice = [](const std::string& attrs) {
    return refusalOf("%x: f32[4]", "%y = Slice(%x) {" + attrs + "} return %y");
  };
  EXPECT_THAT(slice("axes = [0], starts = [2], sizes = [3], steps = [1]"),
              HasSubstr("takes 3 elements from 2 by 1 along dimension 0, which has 4"));
  EXPECT_THAT(slice("axes = [0], starts = [1], sizes = [3], steps = [-1]"), HasSubstr("takes 3"));
  EXPECT_THAT(slice("axes = [0], starts = [0], sizes = [3], steps = [9223372036854775807]"),
              HasSubstr("takes 3"));
  EXPECT_THAT(slice("axes = [0], starts = [0], sizes = [1], steps = [0]"), HasSubstr("step of 0"));
  EXPECT_THAT(slice("axes = [0, 0], starts = [0, 0], sizes = [1, 1], steps = [1, 1]"),
              HasSubstr("twice"));
  EXPECT_THAT(slice("axes = [1], starts = [0], sizes = [1], steps = [1]"), HasSubstr("axis 1"));
  EXPECT_THAT(refusalOf("%x: f32[n]",
                        "%y = Slice(%x) {axes = [0], starts = [n], sizes = [1], steps = [1]} "
                        "return %y"),
              HasSubstr("has n elements along dimension 0 of its input where it needs at least "
                        "n + 1"));
  const Graph graph =
      parseBody("%y = Slice(%x) {axes = [0], starts = [7], sizes = [1], steps = [1]} return %y",
                "%x: f32[n]");
  const HostTensor x(DataType::kF32, {4});
  const ConstTensorView inputs[] = {x.view()};
  EXPECT_THROW(evaluateGraph(graph, inputs), Error);
}

TEST(Concat, JoinsAlongAnAxis) {
  expectValues(kMatrix +
                   "%z: f32[2, 1] = constant [8, 9] %e: f32[2, 0] = constant [] "
                   "%y = Concat(%x, %e, %z) {axis = 1} return %y",
               {{1, 2, 3, 8, 4, 5, 6, 9}});
  expectValues(kMatrix + "%y = Concat(%x, %x) {axis = 0} return %y",
               {{1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 6}});
  EXPECT_EQ(typeOf("n, m", "%a: f32[n, 3], %b: f32[m, 3]", "%y = Concat(%a, %b) return %y"),
            "f32[m + n, 3]");
  EXPECT_THAT(refusalOf("%a: f32[2, 3], %b: f32[2, 4]", "%y = Concat(%a, %b) return %y"),
              HasSubstr("node 'y' (Concat)"));
}

TEST(Pad, EveryMode) {
  const std::string x = "%x: f32[3] = constant [1, 2, 3] ";
  expectValues(x + "%v: f32[] = constant [9] %y = Pad(%x, %v) {begin = [2], end = [1]} return %y",
               {{9, 9, 1, 2, 3, 9}});
  expectValues(x + "%y = Pad(%x) {begin = [1], end = [0]} return %y", {{0, 1, 2, 3}});
  expectValues(x + "%y = Pad(%x) {mode = reflect, begin = [2], end = [3]} return %y",
               {{3, 2, 1, 2, 3, 2, 1, 2}});
  expectValues(x + "%y = Pad(%x) {mode = edge, begin = [2], end = [1]} return %y",
               {{1, 1, 1, 2, 3, 3}});
  expectValues(x + "%y = Pad(%x) {mode = wrap, begin = [2], end = [1]} return %y",
               {{2, 3, 1, 2, 3, 1}});
  expectValues(x + "%y = Pad(%x) {begin = [-1], end = [1]} return %y", {{2, 3, 0}});
  expectValues(
      "%x: f32[2, 2] = constant [1, 2, 3, 4] %y = Pad(%x) {begin = [0, 1], end = [1, 0]} return %y",
      {{0, 1, 2, 0, 3, 4, 0, 0, 0}});
  EXPECT_EQ(typeOf("n", "%x: f32[n]", "%y = Pad(%x) {begin = [1], end = [n]} return %y"),
            "f32[2*n + 1]");
  EXPECT_THAT(refusalOf("%x: f32[2]", "%y = Pad(%x) {begin = [-3], end = [0]} return %y"),
              HasSubstr("crops more"));
}

TEST(Tile, RepeatsEveryDimension) {
  expectValues("%x: f32[2, 1] = constant [1, 2] %y = Tile(%x) {repeats = [2, 3]} return %y",
               {{1, 1, 1, 2, 2, 2, 1, 1, 1, 2, 2, 2}});
  expectValues("%x: f32[2] = constant [1, 2] %y = Tile(%x) {repeats = [0]} return %y", {{}});
  EXPECT_EQ(typeOf("n", "%x: f32[n, 2]", "%y = Tile(%x) {repeats = [2, n]} return %y"),
            "f32[2*n, 2*n]");
}

TEST(Trilu, KeepsATriangle) {
  const std::string x = "%x: i32[2, 3] = constant [1, 2, 3, 4, 5, 6] ";
  expectValues(x + "%y = Trilu(%x) return %y", {{1, 2, 3, 0, 5, 6}});
  expectValues(x + "%y = Trilu(%x) {upper = false} return %y", {{1, 0, 0, 4, 5, 0}});
  expectValues(x + "%y = Trilu(%x) {diagonal = 1} return %y", {{0, 2, 3, 0, 0, 6}});
  expectValues(x + "%y = Trilu(%x) {upper = false, diagonal = -1} return %y", {{0, 0, 0, 4, 0, 0}});
}

}  // namespace
}  // namespace camshaft::testing
