#include "ir/graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/rewrite.h"
#include "ir/test_ops.h"

namespace camshaft::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Graph, ReplaceUsesMovesEveryUseAndTheOutputs) {
  Graph graph = parseTest(
      "graph g(%x: f32[4], %y: f32[4]) { %a = Add(%x, %x) %b = Add(%x, %y) return %x as \"same\", "
      "%b }");
  graph.replaceUses(graph.find("x"), graph.find("y"));
  verify(graph, "replacing");
  EXPECT_EQ(graph.find("y")->users.size(), 4u);
  EXPECT_TRUE(graph.find("x")->users.empty());
  EXPECT_EQ(graph.outputs[0].value, graph.find("y"));
  EXPECT_EQ(graph.outputs[0].name, "same");
}

TEST(Graph, EraseIfDeadFollowsDiamonds) {
  // Both inputs of %d lead to %a: it must go once, and only after both.
  Graph graph = parseTest(
      "graph g(%x: f32[4]) { %a = Copy(%x) %b = Copy(%a) %c = Add(%b, %a) %d = Add(%c, %a) %e = "
      "Copy(%x) return %e }");
  graph.eraseIfDead(graph.find("d")->producer);
  verify(graph, "erasing");
  EXPECT_EQ(graph.nodeCount(), 1u);
  EXPECT_EQ(graph.find("a"), nullptr);
}

TEST(Graph, EraseIfDeadKeepsWhatIsUsed) {
  Graph graph = parseTest(
      "graph g(%x: f32[4], %v: i64[1]) { %a = Copy(%x) %b = Copy(%a) Bind(%v) {symbols = [s]} "
      "return %a }");
  graph.eraseIfDead(graph.find("a")->producer);
  EXPECT_EQ(graph.nodeCount(), 3u);
  graph.eraseIfDead(graph.find("b")->producer);
  EXPECT_EQ(graph.nodeCount(), 2u);
}

TEST(Graph, ARefusedNodeLeavesTheGraphAsItWas) {
  Graph graph = parseTest("graph g(%x: f32[4], %y: f32[5]) { return %x }");
  EXPECT_THROW(graph.add(&kAdd, "bad", {graph.find("x"), graph.find("y")}, NoAttrs{}), Error);
  EXPECT_THROW(graph.add(&kAdd, "bad", {graph.find("x"), nullptr}, NoAttrs{}), Error);
  EXPECT_THROW(graph.add(&kAdd, "bad", {graph.find("x")}, NoAttrs{}), Error);
  EXPECT_EQ(graph.nodeCount(), 0u);
  EXPECT_TRUE(graph.find("x")->users.empty());
  verify(graph, "refusing");
}

TEST(Graph, CloneIsEqualAndIndependent) {
  Graph graph = parseTest(
      "graph g(%x: f32[n]) { %a = Copy(%x) epilogue() {neg(x0:f32)} %b = Add(%a, %x) return %b }");
  Graph copy = graph.clone();
  EXPECT_EQ(toText(copy, true), toText(graph, true));
  copy.replaceUses(copy.find("a"), copy.find("x"));
  copy.eraseIfDead(copy.find("a")->producer);
  verify(copy, "editing the copy");
  verify(graph, "editing the copy");
  EXPECT_EQ(graph.nodeCount(), 2u);
  EXPECT_EQ(copy.nodeCount(), 1u);
}

TEST(Graph, NamesAndSymbolsAreMadeUnique) {
  Graph graph = parseTest("graph g(%x: f32[n]) { return %x }");
  Node* first = graph.add(&kCopy, "x", {graph.find("x")}, NoAttrs{});
  EXPECT_EQ(first->output()->name, "x_1");
  EXPECT_EQ(graph.newSymbol("n").symbolName(), "n_1");
  EXPECT_EQ(graph.newSymbol("k", {1, 5}).symbolName(), "k");
  EXPECT_EQ(graph.symbols.at("k").range.max, 5);
}

TEST(Graph, SmallIntegerConstantsHaveContents) {
  const Graph graph = parseTest(
      "graph g() { %a: i32[2] = constant [3, -1] %b: f32[1] = constant [1] %c: i64[65] = constant "
      "splat 1 return }");
  EXPECT_THAT(graph.find("a")->contents.value(), ElementsAre(Dim(3), Dim(-1)));
  EXPECT_FALSE(graph.find("b")->contents);
  EXPECT_FALSE(graph.find("c")->contents);
}

TEST(Graph, NoNodeGivesATensorOfNegativeSize) {
  EXPECT_THAT(messageOf([] { parseTest("graph g() { %f = Fill() {shape = [2, -3]} return %f }"); }),
              HasSubstr("would give a tensor of type f32[2, -3], and sizes are not negative"));
}

TEST(Verify, SaysWhichPassBrokeWhat) {
  const auto broken = [](auto damage) {
    Graph graph = parseTest(
        "graph g(%x: f32[n], %v: i64[1]) { %a = Copy(%x) Bind(%v) {symbols = [s]} %f = Fill() "
        "{shape = [s]} %b = Copy(%a) epilogue(%x) {add(x0:f32, x1:f32)} return %b }");
    damage(graph);
    const std::string message = messageOf([&] { verify(graph, "fusing"); });
    return message;
  };
  EXPECT_EQ(broken([](Graph&) {}), "");
  EXPECT_THAT(broken([](Graph& g) { g.find("b")->producer->inputs[0] = g.find("x"); }),
              HasSubstr("after fusing: the list of users of 'a'"));
  EXPECT_THAT(broken([](Graph& g) { g.moveBefore(g.find("a")->producer, nullptr); }),
              HasSubstr("reads 'a' before it is computed"));
  EXPECT_THAT(broken([](Graph& g) { g.find("a")->type.shape = {3}; }),
              HasSubstr("recorded as f32[3] and infers to f32[n]"));
  EXPECT_THAT(broken([](Graph& g) { g.symbols.clear(); }), HasSubstr("'n', which is not declared"));
  EXPECT_THAT(
      broken([](Graph& g) { g.moveBefore(g.find("f")->producer, g.nodes().front().get()); }),
      HasSubstr("uses the dimension 's' before it has a value"));
  EXPECT_THAT(
      broken([](Graph& g) { g.find("b")->producer->epilogue->expr = parseExpr("neg(x0:f32)"); }),
      HasSubstr("reads 1 inputs and has 2"));
  EXPECT_THAT(broken([](Graph& g) {
                g.find("b")->producer->epilogue->expr = parseExpr("add(x0:f16, x1:f16)");
              }),
              HasSubstr("reads f16 where the result is f32[n]"));
  EXPECT_THAT(broken([](Graph& g) { g.addOutput("b", g.find("b")); }),
              HasSubstr("two outputs are named 'b'"));
  EXPECT_THAT(broken([](Graph& g) { g.find("a")->name = "other"; }),
              HasSubstr("filed under another name"));
}

TEST(Verify, EpilogueInputsMustBroadcast) {
  Graph graph = parseTest(
      "graph g(%x: f32[2, 4], %b: f32[3]) { %y = Copy(%x) epilogue(%b) {add(x0:f32, x1:f32)} "
      "return %y }");
  EXPECT_THAT(messageOf([&] { verify(graph, "fusing"); }), HasSubstr("does not broadcast"));
}

TEST(Graph, UsersStandInTheOrderInWhichTheyBeganToRead) {
  Graph graph;
  Value* x = graph.addInput("x", {DataType::kF32, {4}});
  Value* y = graph.addInput("y", {DataType::kF32, {4}});
  std::vector<Node*> readers;
  for (int i = 0; i < 100; ++i) readers.push_back(graph.add(&kAdd, "sum", {x, x}, NoAttrs{}));
  for (size_t i = 0; i < readers.size(); ++i)
    if (i % 10 != 3) graph.setInput(readers[i], 1, y);
  std::vector<Node*> expected;
  for (size_t i = 0; i < readers.size(); ++i)
    expected.insert(expected.end(), i % 10 == 3 ? 2 : 1, readers[i]);
  EXPECT_EQ(std::vector<Node*>(x->users), expected);
  EXPECT_EQ(x->users.size(), expected.size());
  verify(graph, "moving readers");
  for (Node* reader : readers) graph.erase(reader);
  EXPECT_TRUE(x->users.empty());
  EXPECT_EQ(x->users.begin(), x->users.end());
}

TEST(Graph, OutputsFollowTheirValue) {
  Graph graph = parseTest(
      "graph g(%x: f32[4]) { %a = Copy(%x) %b = Copy(%a) return %a, %b, %a as \"again\" }");
  graph.replaceUses(graph.find("a"), graph.find("x"));
  EXPECT_FALSE(graph.isOutput(graph.find("a")));
  EXPECT_EQ(graph.outputs[2].value, graph.find("x"));
  graph.setOutput(0, graph.find("b"));
  graph.setOutput(2, graph.find("b"));
  EXPECT_FALSE(graph.isOutput(graph.find("x")));
  graph.setOutputs({graph.outputs[1]});
  EXPECT_TRUE(graph.isOutput(graph.find("b")));
  EXPECT_EQ(graph.outputs.size(), 1u);
  EXPECT_TRUE(graph.clone().isOutput(graph.clone().outputs[0].value));
}

TEST(Origins, AreListedOnceInTheOrderTheyCame) {
  Origins some{"a", "b"}, others{"b", "c"};
  others.add(some);
  EXPECT_THAT(others.list(), ElementsAre("b", "c", "a"));
  some.add(others);
  EXPECT_THAT(some.list(), ElementsAre("a", "b", "c"));
  EXPECT_THAT(Origins().list(), ElementsAre());
}

// Sets that hold each other's parts over and over, in a chain that is too deep to be followed by
// calls: a list of every set on the way would take 80 GB.
TEST(Origins, OfAChainOfNodesShareTheirParts) {
  constexpr int kNodes = 100'000;
  std::vector<Origins> sets(kNodes);
  for (int i = 0; i < kNodes; ++i) {
    sets[i].add(str("node", i));
    if (i > 0) sets[i].add(sets[i - 1]);
    if (i > 1) sets[i].add(sets[i - 2]);
  }
  EXPECT_EQ(sets.back().list().size(), kNodes);
  EXPECT_EQ(sets[1].list().size(), 2u);
}

TEST(Rewrite, LooksThroughProducers) {
  Graph graph =
      parseTest("graph g(%x: f32[4]) { %a = Copy(%x) %b = Copy(%a) %c = Add(%b, %x) return %c }");
  EXPECT_EQ(skipThrough(graph.find("b"), &kCopy), graph.find("x"));
  EXPECT_EQ(producerOf(graph.find("c"), &kAdd), graph.find("c")->producer);
  EXPECT_EQ(producerOf(graph.find("x"), &kAdd), nullptr);
  EXPECT_EQ(otherInput(graph.find("c")->producer, graph.find("x")), graph.find("b"));
  EXPECT_TRUE(onlyUser(graph, graph.find("a")));
  EXPECT_FALSE(onlyUser(graph, graph.find("x")));
  EXPECT_FALSE(onlyUser(graph, graph.find("c")));
  EXPECT_EQ(onlyUser(graph, graph.find("b"), &kCopy), nullptr);
}

TEST(Rewrite, ScalarConstantsOfAnyRank) {
  const Graph graph = parseTest(
      "graph g(%x: f32[1]) { %a: f16[2, 2] = constant [0.5, 0.5, 0.5, 0.5] %b: f32[2] = constant "
      "[1, 2] %c: f32[0] = constant [] %d: i64[] = constant [3] return }");
  double number = 0;
  EXPECT_TRUE(isScalarConstant(graph.find("a"), &number));
  EXPECT_EQ(number, 0.5);
  EXPECT_FALSE(isScalarConstant(graph.find("b")));
  EXPECT_FALSE(isScalarConstant(graph.find("c")));
  EXPECT_FALSE(isScalarConstant(graph.find("x")));
  EXPECT_TRUE(isScalarConstant(graph.find("d"), 3.0));
  EXPECT_FALSE(isScalarConstant(graph.find("d"), 2.0));
}

TEST(Rewrite, ReplaceAndEraseKeepsOrigins) {
  Graph graph = parseTest(
      "graph g(%x: f32[4]) { %a = Copy(%x) from \"one\" %b = Copy(%a) from \"one\", \"two\" %c = "
      "Copy(%b) return %c }");
  replaceAndErase(graph, graph.find("c")->producer, graph.find("b"));
  replaceAndErase(graph, graph.find("b")->producer, graph.find("a"));
  verify(graph, "replacing");
  EXPECT_THAT(graph.find("a")->producer->origins.list(), ElementsAre("one", "two", "c"));
  EXPECT_EQ(graph.nodeCount(), 1u);
  EXPECT_EQ(graph.outputs[0].name, "c");
}

}  // namespace
}  // namespace camshaft::testing
