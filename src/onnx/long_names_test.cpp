// Names of what functions expand to. A name stands once in the file, and for every node of every
// call in the graph.
#include <gtest/gtest.h>

#include "testing/onnx_model.h"

namespace camshaft::onnx {
namespace {

constexpr int kNodes = 1000;
const std::string kLong(1'000'000, 'q');

size_t charactersIn(const camshaft::Graph& graph) {
  size_t count = 0;
  for (const camshaft::Value* value : graph.values()) count += value->name.size();
  for (const auto& node : graph.nodes()) {
    count += node->name.size();
    for (const std::string& origin : node->origins.list()) count += origin.size();
  }
  return count;
}

size_t charactersOf(TestModel& model) {
  camshaft::Graph graph;
  EXPECT_TRUE(model.import(graph).empty());
  EXPECT_EQ(graph.nodeCount(), kNodes);
  return charactersIn(graph);
}

TEST(LongNames, OfTheCallerAreShortenedInside) {
  std::vector<TestNode> nodes;
  for (int i = 0; i < kNodes; ++i)
    nodes.push_back({"Softmax", {str("t", i)}, {str("t", i + 1)}, {}, str("n", i)});
  TestModel model;
  model.function("Chain", {"t0"}, {str("t", kNodes)}, {}, nodes)
      .input("x", {4})
      .node({"Chain", {"x"}, {"y"}, {}, kLong, "local"})
      .output("y");
  EXPECT_LT(charactersOf(model), kLong.size() + kNodes * 1000);
}

TEST(LongNames, OfNodesAndTensorsInsideAreShortenedInEveryCall) {
  TestModel model;
  model.function("Step", {"a"}, {"b"}, {}, {{"Softmax", {"a"}, {"b"}, {}, kLong}}).input("t0", {4});
  for (int i = 0; i < kNodes; ++i)
    model.node({"Step", {str("t", i)}, {str("t", i + 1)}, {}, str("n", i), "local"});
  model.output(str("t", kNodes));
  EXPECT_LT(charactersOf(model), kLong.size() + kNodes * 1000);
}

TEST(LongNames, OfTheMainGraphStay) {
  TestModel model;
  model.input("x", {4}).node({"Relu", {"x"}, {"y"}, {}, kLong}).output("y");
  camshaft::Graph graph;
  EXPECT_TRUE(model.import(graph).empty());
  EXPECT_EQ(graph.nodes().front()->name, kLong);
}

}  // namespace
}  // namespace camshaft::onnx
