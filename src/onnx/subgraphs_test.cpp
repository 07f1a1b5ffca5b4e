#include "onnx/subgraphs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "testing/onnx_model.h"

namespace camshaft::onnx {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

struct Import {
  explicit Import(TestModel model) {
    const LoadedModel loaded = model.load();
    camshaft::Graph graph;
    problems = importModel(loaded, graph, {.untried = &untried});
    subgraphs = subgraphsOf(loaded, problems, untried);
  }
  std::vector<ImportProblem> problems;
  std::vector<int> untried;
  std::vector<Subgraph> subgraphs;
};

TEST(Subgraphs, OneWhenEverythingIsSupported) {
  const Import import(TestModel()
                          .input("x", {2})
                          .node({"Neg", {"h"}, {"y"}})
                          .node({"Exp", {"x"}, {"h"}})
                          .output("y"));
  EXPECT_THAT(import.problems, IsEmpty());
  ASSERT_EQ(import.subgraphs.size(), 1u);
  EXPECT_TRUE(import.subgraphs[0].supported);
  EXPECT_THAT(import.subgraphs[0].nodes, ElementsAre(1, 0));  // in the order that computes them
}

TEST(Subgraphs, UnsupportedNodesCutTheModel) {
  const Import import(TestModel()
                          .input("x", {2})
                          .node({"Exp", {"x"}, {"a"}})
                          .node({"Mystery", {"a"}, {"b"}})
                          .node({"Neg", {"b"}, {"c"}})
                          .node({"Abs", {"c"}, {"y"}})
                          .output("y"));
  ASSERT_EQ(import.subgraphs.size(), 2u);
  EXPECT_THAT(import.subgraphs[0].nodes, ElementsAre(0));
  EXPECT_TRUE(import.subgraphs[0].supported);
  EXPECT_THAT(import.subgraphs[1].nodes, ElementsAre(2, 3));
  EXPECT_FALSE(import.subgraphs[1].supported);  // nothing is known of b
}

TEST(Subgraphs, DeclaredTypesLetTheRestBeChecked) {
  TestModel model;
  model.input("x", {2, 3})
      .node({"Mystery", {"x"}, {"a"}, {}, "first"})
      .node({"Softmax", {"a"}, {"b"}, {{"axis", int64_t{5}}}, "second"})
      .node({"Relu", {"b"}, {"y"}})
      .output("y");
  ASSERT_EQ(Import(model).problems.size(), 1u);  // nothing is known of a
  const Import import(model.value("a", {2, "n"}));
  ASSERT_EQ(import.problems.size(), 2u);
  EXPECT_THAT(import.problems[1].message, HasSubstr("axis 5 is outside a tensor of rank 2"));
  ASSERT_EQ(import.subgraphs.size(), 1u);
  EXPECT_THAT(import.subgraphs[0].nodes, ElementsAre(2));
  EXPECT_FALSE(import.subgraphs[0].supported);
  EXPECT_TRUE(Import(model.value("b", {2, "n"})).subgraphs[0].supported);
}

TEST(Subgraphs, AProblemOfTheModelSpoilsAllOfIt) {
  const Import import(TestModel().input("x", {2}).node({"Exp", {"x"}, {"y"}}).output("z"));
  EXPECT_THAT(import.problems, SizeIs(1));
  EXPECT_THAT(import.subgraphs, IsEmpty());
}

TEST(Problems, NameTheFunctionsTheyLieIn) {
  TestModel model;
  model.function("Inner", {"a"}, {"b"}, {}, {{"Mystery", {"a"}, {"b"}, {}, "odd"}});
  model.function("Outer", {"a"}, {"b"}, {}, {{"Inner", {"a"}, {"b"}, {}, "call", "local"}});
  const Import import(
      model.input("x", {2}).node({"Outer", {"x"}, {"y"}, {}, "top", "local"}).output("y"));
  ASSERT_EQ(import.problems.size(), 1u);
  EXPECT_EQ(import.problems[0].node, "top/call/odd");
  EXPECT_THAT(import.problems[0].functions, ElementsAre("Outer", "Inner"));
}

TEST(Problems, SuggestTheDomainThatHasTheOperator) {
  const Import import(TestModel().input("x", {2}).node({"FastGelu", {"x"}, {"y"}}).output("y"));
  ASSERT_EQ(import.problems.size(), 1u);
  EXPECT_THAT(import.problems[0].message, HasSubstr("known in domain 'com.microsoft'"));
}

TEST(Problems, NewerOpsetsAreReadAsTheNewestKnown) {
  EXPECT_THAT(
      Import(TestModel(kNewestOpset + 30).input("x", {2}).node({"Relu", {"x"}, {"y"}}).output("y"))
          .problems,
      IsEmpty());
}

}  // namespace
}  // namespace camshaft::onnx
