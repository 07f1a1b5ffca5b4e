#include "testing/graph_text.h"

namespace camshaft::testing {
namespace {

using ::testing::HasSubstr;

TEST(Reduce, InfersKeptAndDroppedDimensions) {
  const std::string input = "%x: f32[n, 3, h]";
  EXPECT_EQ(typeOf("n, h", input, "%y = Reduce(%x) {axes = [0, 2]} return %y"), "f32[1, 3, 1]");
  EXPECT_EQ(typeOf("n, h", input, "%y = Reduce(%x) {axes = [1], keep_dims = false} return %y"),
            "f32[n, h]");
  EXPECT_EQ(typeOf("n, h", input, "%y = Reduce(%x) {keep_dims = false} return %y"), "f32[n, 3, h]");
  EXPECT_EQ(typeOf("n, h", input, "%y = ArgReduce(%x) {axis = 2, keep_dims = false} return %y"),
            "i64[n, 3]");
  EXPECT_EQ(typeOf("n, h", input, "%y = CumSum(%x) {axis = 2} return %y"), "f32[n, 3, h]");
}

TEST(Reduce, RefusesAxesThatAreNotThere) {
  EXPECT_THAT(refusalOf("%x: f32[2, 3]", "%y = Reduce(%x) {axes = [2]} return %y"),
              HasSubstr("node 'y' (Reduce) has axis 2 which f32[2, 3] does not have"));
  EXPECT_THAT(refusalOf("%x: f32[2, 0]", "%y = ArgReduce(%x) {axis = 1} return %y"),
              HasSubstr("which is empty"));
  EXPECT_THAT(refusalOf("%x: bool[2]", "%y = Reduce(%x) {axes = [0]} return %y"),
              HasSubstr("reduces bool elements"));
}

TEST(Reduce, OverNothing) {
  auto over = [](const std::string& kind, const std::string& type) {
    return "%x: " + type + "[2, 0] = constant [] %y = Reduce(%x) {kind = " + kind +
           ", axes = [1]} return %y";
  };
  expectValues(over("sum", "f32"), {{0, 0}});
  expectValues(over("prod", "i32"), {{1, 1}});
  expectValues(over("max", "f32"), {{-INFINITY, -INFINITY}});
  expectValues(over("min", "f16"), {{INFINITY, INFINITY}});
  expectValues(over("max", "i8"), {{-128, -128}});
  expectValues(over("min", "u8"), {{255, 255}});
  expectValues(over("mean", "f32"), {{NAN, NAN}});
  expectValues(over("log_sum_exp", "f32"), {{-INFINITY, -INFINITY}});
}

TEST(Reduce, KeepsPrecisionAndRange) {
  expectValues("%x: f32[4] = constant [1e8, 1, -1e8, 1] %y = Reduce(%x) {axes = [0]} return %y",
               {{2}}, 0);
  expectValues(
      "%x: f32[2] = constant [1000, 1000] %y = Reduce(%x) {kind = log_sum_exp, axes = [0]} return "
      "%y",
      {{1000.693147}});
  expectValues(
      "%x: i64[2] = constant [9007199254740993, -9007199254740992] %y = Reduce(%x) {axes = [0]} "
      "return %y",
      {{1}}, 0);
  expectValues("%x: u8[2] = constant [200, 100] %y = Reduce(%x) {axes = [0]} return %y", {{44}}, 0);
}

TEST(Reduce, NanWinsMaxAndMin) {
  expectValues(
      "%x: f32[3] = constant [1, nan, 2] %y = Reduce(%x) {kind = max, axes = [0]} return %y",
      {{NAN}});
  expectValues(
      "%x: f32[3] = constant [1, nan, 2] %y = Reduce(%x) {kind = min, axes = [0]} return %y",
      {{NAN}});
  expectValues(
      "%x: bool[3] = constant [0, 1, 0] %y = Reduce(%x) {kind = max, axes = [0]} return %y", {{1}});
}

TEST(ArgReduce, PicksFirstOrLastOfEquals) {
  const std::string x = "%x: i32[2, 4] = constant [1, 7, 7, 0, 5, 0, 0, 5] ";
  expectValues(x + "%y = ArgReduce(%x) {axis = 1} return %y", {{1, 0}});
  expectValues(x + "%y = ArgReduce(%x) {axis = 1, select_last = true} return %y", {{2, 3}});
  expectValues(x + "%y = ArgReduce(%x) {axis = 1, largest = false} return %y", {{3, 1}});
  expectValues(x + "%y = ArgReduce(%x) {axis = 0, largest = false, select_last = true} return %y",
               {{0, 1, 1, 0}});
}

TEST(CumSum, EveryWay) {
  const std::string x = "%x: f32[2, 3] = constant [1, 2, 3, 4, 5, 6] ";
  expectValues(x + "%y = CumSum(%x) {axis = 1} return %y", {{1, 3, 6, 4, 9, 15}});
  expectValues(x + "%y = CumSum(%x) {axis = 0, exclusive = true} return %y", {{0, 0, 0, 1, 2, 3}});
  expectValues(x + "%y = CumSum(%x) {axis = 1, reverse = true} return %y", {{6, 5, 3, 15, 11, 6}});
  expectValues(x + "%y = CumSum(%x) {axis = 1, reverse = true, exclusive = true} return %y",
               {{5, 3, 0, 11, 6, 0}});
  expectValues(x + "%y = CumSum(%x) {axis = 1, product = true} return %y", {{1, 2, 6, 4, 20, 120}});
  expectValues("%x: i32[2] = constant [2147483647, 1] %y = CumSum(%x) return %y",
               {{2147483647, -2147483648.0}}, 0);
}

TEST(Reduce, MatchesOnnxruntime) {
  expectValues(R"(
    %x: f32[2, 2, 3] = constant [-2, -1.75, -1.75, 0.25, -0.5, 2, -1, -1.5, 1.5, -0.75, 1, -1]
    %y = Reduce(%x) {kind = mean, axes = [0, 2], keep_dims = false}
    return %y)",
               {{-1.083333, 0.1666667}});
  expectValues(R"(
    %x: f32[2, 2, 3] = constant [-2, -1.75, -1.75, 0.25, -0.5, 2, -1, -1.5, 1.5, -0.75, 1, -1]
    %y = Reduce(%x) {kind = l1, axes = [0, 2], keep_dims = false}
    return %y)",
               {{9.5, 5.5}});
  expectValues(R"(
    %x: f32[2, 2, 3] = constant [-2, -1.75, -1.75, 0.25, -0.5, 2, -1, -1.5, 1.5, -0.75, 1, -1]
    %y = Reduce(%x) {kind = l2, axes = [0, 2], keep_dims = false}
    return %y)",
               {{3.952847, 2.622022}});
  expectValues(R"(
    %x: f32[2, 2, 3] = constant [-2, -1.75, -1.75, 0.25, -0.5, 2, -1, -1.5, 1.5, -0.75, 1, -1]
    %y = Reduce(%x) {kind = sum_square, axes = [0, 2], keep_dims = false}
    return %y)",
               {{15.625, 6.875}});
  expectValues(R"(
    %x: f32[2, 2, 3] = constant [-2, -1.75, -1.75, 0.25, -0.5, 2, -1, -1.5, 1.5, -0.75, 1, -1]
    %y = Reduce(%x) {kind = log_sum_exp, axes = [0, 2], keep_dims = false}
    return %y)",
               {{1.714803, 2.55242}});
  expectValues(R"(
    %x: f32[2, 2, 3] = constant [-2, -1.75, -1.75, 0.25, -0.5, 2, -1, -1.5, 1.5, -0.75, 1, -1]
    %y = Reduce(%x) {kind = prod, axes = [0, 2], keep_dims = false}
    return %y)",
               {{-13.78125, -0.1875}});
  expectValues(R"(
    %x: i32[2, 2] = constant [3, -7, 5, 6]
    %y = Reduce(%x) {kind = mean, axes = [0]}
    return %y)",
               {{4, 0}});
  expectValues(R"(
    %x: i32[2, 2] = constant [3, -7, 5, 6]
    %y = Reduce(%x) {kind = max, axes = [0]}
    return %y)",
               {{5, 6}});
  expectValues(R"(
    %x: i32[2, 2] = constant [3, -7, 5, 6]
    %y = Reduce(%x) {kind = l2, axes = [0]}
    return %y)",
               {{5, 9}});
}

TEST(Reduce, OfSizesIsASize) {
  const Graph graph = testing::parseBody(
      "%s = Shape(%x) {begin = 0, end = 2} %a = Reduce(%s) {kind = min, axes = [0]} "
      "%b = Reduce(%s) {kind = prod, axes = [0], keep_dims = false} "
      "%c = Reduce(%s) {kind = mean, axes = [0]} return %a, %b, %c",
      "%x: f32[n, 400]", "symbols n");
  EXPECT_EQ(graph.find("a")->contents, std::vector<Dim>{min(Dim::symbol("n"), 400)});
  EXPECT_EQ(graph.find("b")->contents, std::vector<Dim>{Dim::symbol("n") * 400});
  EXPECT_FALSE(graph.find("c")->contents);
}

}  // namespace
}  // namespace camshaft::testing
