#include "testing/graph_text.h"

namespace camshaft::testing {
namespace {

using ::testing::HasSubstr;

std::string count(const std::string& attributes) {
  return "%y = NGrams(%x) {columns = 3, pool = [2, 5, 5, 5], pool_starts = [0, 2], column_of = [0, "
         "2, 1], min_length = 1, max_length = 2, " +
         attributes + "} return %y";
}

// 1-grams 2 and 5, the 2-gram (5, 5).
TEST(NGrams, CountsWhatThePoolLists) {
  EXPECT_EQ(typeOf("n", "%x: i32[n, 6]", count("mode = tf")), "f32[n, 3]");
  const std::string x = "%x: i64[2, 4] = constant [5, 1, 5, 5, 2, 2, 7, 7] ";
  expectValues(x + count("mode = tf"), {{0, 1, 3, 2, 0, 0}});
  expectValues(x + count("max_skip = 2"), {{0, 3, 3, 2, 0, 0}});  // gaps of 1 and 2 tokens too
  expectValues(x + count("weights = [0.5, 2, 4], mode = tfidf"), {{0, 4, 6, 1, 0, 0}});
  expectValues(x + count("weights = [0.5, 2, 4], mode = idf"), {{0, 4, 2, 0.5, 0, 0}});
}

TEST(NGrams, RefusesPoolsThatDoNotDivide) {
  EXPECT_THAT(refusalOf("%x: i64[4]",
                        "%y = NGrams(%x) {columns = 1, pool = [1, 2, 3], pool_starts = [0, 0], "
                        "column_of = [0]} return %y"),
              HasSubstr("does not divide"));
}

}  // namespace
}  // namespace camshaft::testing
