#include "ops/select.h"

#include "testing/graph_text.h"

namespace camshaft {
namespace {

using ::testing::HasSubstr;
using testing::numbersOf;
using testing::refusalOf;
using testing::typeOf;

// The results at the beginning of every output; the last counts them.
std::vector<std::vector<double>> resultsOf(const std::string& body) {
  const Graph graph = testing::parseBody(body);
  const std::vector<HostTensor> outputs = evaluateGraph(graph, {});
  const int64_t count = readInteger(DataType::kI64, outputs.back().view().data, 0);
  std::vector<std::vector<double>> results;
  for (size_t i = 0; i < outputs.size(); ++i) {
    results.push_back(numbersOf(outputs[i]));
    results.back().resize(resultElements(*graph.nodes().back(), i, outputs[i].count(), count));
  }
  return results;
}

using Numbers = std::vector<std::vector<double>>;

TEST(NonZero, ListsIndicesInOrder) {
  EXPECT_EQ(
      resultsOf(
          "%x: f32[2, 3] = constant [0, 2, -0, nan, 0, 1] %p, %n = NonZero(%x) return %p, %n"),
      (Numbers{{0, 1, 1, 0, 1, 2}, {3}}));
  EXPECT_EQ(resultsOf("%x: bool[3] = constant [0, 1, 1] %p, %n = NonZero(%x) return %p, %n"),
            (Numbers{{1, 2}, {2}}));
  EXPECT_EQ(resultsOf("%x: i8[0, 3] = constant [] %p, %n = NonZero(%x) return %p, %n"),
            (Numbers{{}, {0}}));
  EXPECT_EQ(resultsOf("%x: i64[] = constant [4] %p, %n = NonZero(%x) return %p, %n"),
            (Numbers{{}, {1}}));
  EXPECT_EQ(typeOf("n", "%x: f32[n, 3]", "%p, %n = NonZero(%x) return %p"), "i64[3*n, 2]");
}

TEST(Unique, SortsOrKeepsTheOrder) {
  const std::string x = "%x: f32[6] = constant [2, 1, 1, 3, 4, 3] ";
  EXPECT_EQ(resultsOf(x + "%f, %i, %t, %n = Unique(%x) return %f, %i, %t, %n"),
            (Numbers{{1, 0, 3, 4}, {1, 0, 0, 2, 3, 2}, {2, 1, 2, 1}, {4}}));
  EXPECT_EQ(resultsOf(x + "%f, %i, %t, %n = Unique(%x) {sorted = false} return %f, %i, %t, %n"),
            (Numbers{{0, 1, 3, 4}, {0, 1, 1, 2, 3, 2}, {1, 2, 2, 1}, {4}}));
}

TEST(Unique, ComparesSlices) {
  EXPECT_EQ(resultsOf("%x: i32[3, 3] = constant [1, 0, 0, 1, 0, 0, 2, 3, 4] "
                      "%f, %i, %t, %n = Unique(%x) {axis = 0} return %f, %i, %t, %n"),
            (Numbers{{0, 2}, {0, 0, 1}, {2, 1}, {2}}));
  EXPECT_EQ(resultsOf("%x: i32[2, 3] = constant [1, 0, 1, 5, 9, 5] "
                      "%f, %i, %t, %n = Unique(%x) {axis = 1} return %f, %i, %t, %n"),
            (Numbers{{1, 0}, {1, 0, 1}, {1, 2}, {2}}));
}

TEST(Unique, TakesNaNAsOneValueAndTheLargest) {
  EXPECT_EQ(resultsOf("%x: f32[5] = constant [nan, 1, nan, -0, 0] "
                      "%f, %i, %t, %n = Unique(%x) return %f, %i, %t, %n"),
            (Numbers{{3, 1, 0}, {2, 1, 2, 0, 0}, {2, 1, 2}, {3}}));
}

const std::string kBoxes =
    "%b: f32[1, 4, 4] = constant [0, 0, 1, 1, 0, 0.1, 1, 1.1, 0, 10, 1, 11, 1, 11, 0, 10] ";

TEST(NonMaxSuppression, KeepsTheBestOfThoseThatOverlap) {
  EXPECT_EQ(resultsOf(kBoxes + "%s: f32[1, 1, 4] = constant [0.9, 0.95, 0.5, 0.5] "
                               "%t: f32[] = constant [0.5] %p, %n = NonMaxSuppression(%b, %s, %t) "
                               "{limit = 9} return %p, %n"),
            (Numbers{{0, 0, 1, 0, 0, 2}, {2}}));
}

TEST(NonMaxSuppression, HasLimitsAndThresholds) {
  const std::string s = "%s: f32[1, 2, 4] = constant [0.9, 0.2, 0.5, 0.4, 0.1, nan, 0.3, 0.2] ";
  EXPECT_EQ(resultsOf(kBoxes + s + "%p, %n = NonMaxSuppression(%b, %s) {limit = 1} return %p, %n"),
            (Numbers{{0, 0, 0, 0, 1, 2}, {2}}));
  EXPECT_EQ(resultsOf(kBoxes + s +
                      "%t: f32[] = constant [0.45] %p, %n = NonMaxSuppression(%b, %s, _, "
                      "%t) {limit = 4} return %p, %n"),
            (Numbers{{0, 0, 0, 0, 0, 2}, {2}}));
  EXPECT_EQ(resultsOf(kBoxes + s + "%p, %n = NonMaxSuppression(%b, %s) {limit = 0} return %p, %n"),
            (Numbers{{}, {0}}));
}

TEST(NonMaxSuppression, TakesCentres) {
  EXPECT_EQ(resultsOf("%b: f32[1, 2, 4] = constant [0.5, 0.5, 1, 1, 0.5, 0.6, 1, 1] "
                      "%s: f32[1, 1, 2] = constant [1, 2] %t: f32[] = constant [0.5] "
                      "%p, %n = NonMaxSuppression(%b, %s, %t) {limit = 9, centred = true} "
                      "return %p, %n"),
            (Numbers{{0, 0, 1}, {1}}));
}

TEST(NonMaxSuppression, KnowsItsBound) {
  EXPECT_EQ(typeOf("n", "%b: f32[2, n, 4], %s: f32[2, 5, n]",
                   "%p, %n = NonMaxSuppression(%b, %s) {limit = 100} return %p"),
            "i64[10*min(100, n), 3]");
  EXPECT_THAT(refusalOf("%b: f32[2, 7, 4], %s: f32[2, 5, 8]",
                        "%p, %n = NonMaxSuppression(%b, %s) {limit = 100} return %p"),
              HasSubstr("needs boxes of shape [2, 8, 4]"));
}

}  // namespace
}  // namespace camshaft
