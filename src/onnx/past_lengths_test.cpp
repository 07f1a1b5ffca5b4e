#include "onnx/past_lengths.h"

#include <gtest/gtest.h>

#include "onnx/import.h"
#include "testing/onnx_model.h"

namespace camshaft::onnx {
namespace {

int64_t leastSize(const camshaft::Graph& graph, int input, int axis) {
  return graph.symbolRange()(graph.inputs[input]->shape()[axis].symbolName()).min;
}

TEST(PastLengths, OnlyWhereAnInputGrows) {
  TestModel model;
  model.input("past", {"batch", 4, "old", 8})
      .input("fresh", {"batch", 4, "new", 8})
      .node({"Concat", {"past", "scaled"}, {"y"}, {{"axis", int64_t{-2}}}})
      .node({"Relu", {"fresh"}, {"scaled"}})
      .output("y");
  // The last of each is asked for.
  model.integers("from", {-1}).integers("to", {INT64_MAX}).integers("along", {2});
  for (const char* input : {"past", "fresh"})
    model.node({"Slice", {input, "from", "to", "along"}, {str("last_", input)}});
  model.output("last_past").output("last_fresh");
  camshaft::Graph graph;
  ASSERT_TRUE(model.import(graph).empty());
  EXPECT_EQ(leastSize(graph, 0, 0), 0);
  EXPECT_EQ(leastSize(graph, 0, 2), 0);
  EXPECT_EQ(leastSize(graph, 1, 2), 1);
}

}  // namespace
}  // namespace camshaft::onnx
