#include "testing/graph_text.h"

namespace camshaft::testing {
namespace {

using ::testing::HasSubstr;

// x[0] <= 1 ? (x[1] in {2, 5} ? 10 : 20) : 30, and a tree that is the leaf 1 for target 1.
std::string trees(const std::string& aggregate) {
  return "%y = Trees(%x) {aggregate = " + aggregate +
         ", targets = 2, roots = [0, -4], features = [0, 1], modes = [0, 6], splits = [1, 0], yes "
         "= "
         "[1, -1], no = [-3, -2], member_ends = [0, 2], members = [2, 5], vote_ends = [1, 2, 3, "
         "4], "
         "vote_targets = [0, 0, 0, 1], vote_weights = [10, 20, 30, 1]} return %y";
}

TEST(Trees, LeadToLeaves) {
  EXPECT_EQ(typeOf("n", "%x: f32[n, 2]", trees("sum")), "f32[n, 2]");
  const std::string x = "%x: f32[4, 2] = constant [1, 5, 0, 4, 2, 5, nan, 5] ";
  expectValues(x + trees("sum"), {{10, 1, 20, 1, 30, 1, 30, 1}});
  expectValues(x + trees("average"), {{5, 0.5, 10, 0.5, 15, 0.5, 15, 0.5}});
  expectValues(x + trees("max"), {{10, 1, 20, 1, 30, 1, 30, 1}});
}

TEST(Trees, MustEnd) {
  EXPECT_THAT(refusalOf("%x: f32[1, 2]",
                        "%y = Trees(%x) {roots = [0], features = [0], modes = [0], splits = [0], "
                        "yes = [0], no = [-1], member_ends = [0], vote_ends = [0]} return %y"),
              HasSubstr("lead nowhere or back"));
}

}  // namespace
}  // namespace camshaft::testing
