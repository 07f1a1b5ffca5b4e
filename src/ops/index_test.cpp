#include "ops/index.h"

#include "testing/graph_text.h"

namespace camshaft::testing {
namespace {

using ::testing::HasSubstr;

const std::string kMatrix = "%x: f32[3, 2] = constant [1, 2, 3, 4, 5, 6] ";

std::string failureOf(const std::string& body) {
  try {
    evaluateText(body);
  } catch (const Error& error) {
    return error.message();
  }
  return "";
}

TEST(Gather, TakesRowsAndColumns) {
  expectValues(kMatrix + "%i: i64[2] = constant [2, -3] %y = Gather(%x, %i) return %y",
               {{5, 6, 1, 2}});
  expectValues(kMatrix + "%i: i32[1, 2] = constant [1, 0] %y = Gather(%x, %i) {axis = 1} return %y",
               {{2, 1, 4, 3, 6, 5}});
  expectValues(kMatrix + "%i: i64[] = constant [1] %y = Gather(%x, %i) return %y", {{3, 4}});
  expectValues(kMatrix + "%i: i64[0] = constant [] %y = Gather(%x, %i) return %y", {{}});
  EXPECT_EQ(typeOf("n, m", "%x: f32[n, 8], %i: i64[m, 2]", "%y = Gather(%x, %i) return %y"),
            "f32[m, 2, 8]");
}

TEST(Gather, NamesTheNodeOfAWrongIndex) {
  EXPECT_THAT(failureOf(kMatrix + "%i: i64[1] = constant [3] %y = Gather(%x, %i) return %y"),
              HasSubstr("node 'y' (Gather) has index 3 outside of a dimension of 3"));
  EXPECT_THAT(
      failureOf(kMatrix +
                "%i: i64[1] = constant [-9223372036854775808] %y = Gather(%x, %i) return %y"),
      HasSubstr("outside"));
  EXPECT_THAT(refusalOf("%x: f32[2], %i: f32[1]", "%y = Gather(%x, %i) return %y"),
              HasSubstr("integer indices"));
}

TEST(GatherElements, TakesOneElementEach) {
  expectValues(
      kMatrix + "%i: i64[2, 2] = constant [2, 0, 1, -1] %y = GatherElements(%x, %i) return %y",
      {{5, 2, 3, 6}});
  expectValues(
      kMatrix +
          "%i: i64[3, 1] = constant [1, 0, 1] %y = GatherElements(%x, %i) {axis = 1} return %y",
      {{2, 3, 6}});
  EXPECT_THAT(
      failureOf(kMatrix + "%i: i64[1, 1] = constant [5] %y = GatherElements(%x, %i) return %y"),
      HasSubstr("index 5"));
  EXPECT_THAT(refusalOf("%x: f32[2, 2], %i: i64[2, 3]", "%y = GatherElements(%x, %i) return %y"),
              HasSubstr("more indices than elements"));
}

TEST(GatherND, TakesSlices) {
  expectValues(kMatrix + "%i: i64[2, 2] = constant [0, 1, -1, 0] %y = GatherND(%x, %i) return %y",
               {{2, 5}});
  expectValues(kMatrix + "%i: i64[1, 1] = constant [1] %y = GatherND(%x, %i) return %y", {{3, 4}});
  expectValues(
      "%x: f32[2, 2, 2] = constant [0, 1, 2, 3, 4, 5, 6, 7] %i: i64[2, 1] = constant [1, 0] "
      "%y = GatherND(%x, %i) {batch_dims = 1} return %y",
      {{2, 3, 4, 5}});
  EXPECT_THAT(
      failureOf(kMatrix + "%i: i64[1, 2] = constant [0, 2] %y = GatherND(%x, %i) return %y"),
      HasSubstr("index 2"));
  EXPECT_THAT(refusalOf("%x: f32[2], %i: i64[1, 2]", "%y = GatherND(%x, %i) return %y"),
              HasSubstr("index tuples"));
}

TEST(ScatterElements, ReplacesAndReduces) {
  const std::string inputs =
      "%x: f32[3] = constant [1, 2, 3] %i: i64[3] = constant [0, -1, 0] %u: f32[3] = constant [10, "
      "20, 30] ";
  const auto scatter = [&](const std::string& reduction) {
    return inputs + "%y = ScatterElements(%x, %i, %u) {reduction = " + reduction + "} return %y";
  };
  expectValues(scatter("none"), {{30, 2, 20}});
  expectValues(scatter("add"), {{41, 2, 23}});
  expectValues(scatter("mul"), {{300, 2, 60}});
  expectValues(scatter("max"), {{30, 2, 20}});
  expectValues(scatter("min"), {{1, 2, 3}});
  EXPECT_THAT(failureOf("%x: f16[2] = constant [1, 2] %i: i64[1] = constant [2] %u: f16[1] = "
                        "constant [1] %y = ScatterElements(%x, %i, %u) return %y"),
              HasSubstr("index 2"));
}

TEST(ScatterElements, AlongAnotherAxis) {
  expectValues(kMatrix +
                   "%i: i64[2, 1] = constant [1, 0] %u: f32[2, 1] = constant [8, 9] "
                   "%y = ScatterElements(%x, %i, %u) {axis = 1} return %y",
               {{1, 8, 9, 4, 5, 6}});
}

TEST(ScatterND, ReplacesSlices) {
  expectValues(kMatrix +
                   "%i: i64[1, 1] = constant [-1] %u: f32[1, 2] = constant [8, 9] %y = "
                   "ScatterND(%x, %i, %u) return %y",
               {{1, 2, 3, 4, 8, 9}});
  expectValues(kMatrix +
                   "%i: i64[2, 2] = constant [0, 1, 0, 1] %u: f32[2] = constant [8, 9] "
                   "%y = ScatterND(%x, %i, %u) {reduction = add} return %y",
               {{1, 19, 3, 4, 5, 6}});
  EXPECT_THAT(refusalOf("%x: f32[3, 2], %i: i64[1, 1], %u: f32[1, 3]",
                        "%y = ScatterND(%x, %i, %u) return %y"),
              HasSubstr("updates of shape [1, 2]"));
}

TEST(OneHot, PutsOneOn) {
  expectValues(
      "%i: i64[3] = constant [1, -1, 7] %v: f32[2] = constant [0, 5] "
      "%y = OneHot(%i, %v) {axis = 1, depth = 3} %z = OneHot(%i, %v) {axis = 0, depth = 2} return "
      "%y, %z",
      {{0, 5, 0, 0, 0, 5, 0, 0, 0}, {0, 0, 0, 5, 5, 0}});
  EXPECT_EQ(typeOf("n, d", "%i: i64[n], %v: i8[2]",
                   "%y = OneHot(%i, %v) {axis = 1, depth = d} return %y"),
            "i8[n, d]");
}

TEST(TopK, OrdersAndBreaksTies) {
  expectValues("%x: f32[5] = constant [3, 1, 3, nan, 2] %v, %i = TopK(%x) {k = 4} return %v, %i",
               {{std::nan(""), 3, 3, 2}, {3, 0, 2, 4}});
  expectValues(
      "%x: i32[2, 2] = constant [4, 1, 2, 3] %v, %i = TopK(%x) {k = 1, axis = 0, largest = false} "
      "return %v, %i",
      {{2, 1}, {1, 0}});
  expectValues("%x: f32[2] = constant [4, 1] %v, %i = TopK(%x) {k = 0} return %v, %i", {{}, {}});
  EXPECT_THAT(refusalOf("%x: f32[2]", "%v, %i = TopK(%x) {k = 3} return %v"),
              HasSubstr("takes 3 elements"));
}

TEST(ReverseSequence, ReversesTheFirstSteps) {
  expectValues(kMatrix + "%l: i64[2] = constant [2, 3] %y = ReverseSequence(%x, %l) return %y",
               {{3, 6, 1, 4, 5, 2}});
  EXPECT_THAT(
      failureOf(kMatrix + "%l: i64[2] = constant [2, 4] %y = ReverseSequence(%x, %l) return %y"),
      HasSubstr("reverses 4 of 3 steps"));
}

}  // namespace
}  // namespace camshaft::testing
