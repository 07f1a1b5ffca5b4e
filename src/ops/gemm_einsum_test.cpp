#include "testing/graph_text.h"

namespace camshaft::testing {
namespace {

using ::testing::HasSubstr;

TEST(Einsum, InfersFromLabels) {
  EXPECT_EQ(typeOf("b, i, j", "%x: f32[b, i, 4], %a: f32[b, j, 4]",
                   R"(%y = Einsum(%x, %a) {equation = "bid, bjd -> bij"} return %y)"),
            "f32[b, i, j]");
}

TEST(Einsum, RefusesConflicts) {
  EXPECT_THAT(
      refusalOf("%x: f32[2, 3], %a: f32[4, 5]",
                R"(%y = Einsum(%x, %a) {equation = "ij,jk->ik"} return %y)"),
      HasSubstr("node 'y' (Einsum) under the label 'j' has sizes 3 and 4 that do not broadcast"));
  EXPECT_THAT(refusalOf("%x: f32[2, 3]", R"(%y = Einsum(%x) {equation = "ij,jk->ik"} return %y)"),
              HasSubstr("has 1 inputs where its equation 'ij,jk->ik' names 2"));
  EXPECT_THAT(refusalOf("%x: f32[2, 3]", R"(%y = Einsum(%x) {equation = "ij->ik"} return %y)"),
              HasSubstr("has the label 'k' in its result"));
  EXPECT_THAT(refusalOf("%x: f32[2]", R"(%y = Einsum(%x) {equation = "ij->i"} return %y)"),
              HasSubstr("needs an operand 'ij' of rank 2"));
}

TEST(Einsum, Contracts) {
  const std::string matrix = "%x: f32[2, 2] = constant [1, 2, 3, 4] ";
  expectValues(matrix + R"(%y = Einsum(%x, %x) {equation = "ij,kj->ki"} return %y)",
               {{5, 11, 11, 25}});
  expectValues(matrix + R"(%y = Einsum(%x) {equation = "ij->ji"} return %y)", {{1, 3, 2, 4}});
  expectValues(matrix + R"(%y = Einsum(%x) {equation = "ii->i"} return %y)", {{1, 4}});
  expectValues(matrix + R"(%y = Einsum(%x) {equation = "ii->"} return %y)", {{5}});
  expectValues(R"(
    %x: i32[2] = constant [1, 2]
    %a: i32[3] = constant [1, 10, 100]
    %b: i32[2] = constant [1, -1]
    %y = Einsum(%x, %a, %b) {equation = "i,j,i->ji"} return %y)",
               {{1, -2, 10, -20, 100, -200}});
}

}  // namespace
}  // namespace camshaft::testing
