#include "onnx/fixed_caches.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ops/index.h"
#include "testing/onnx_model.h"

namespace camshaft::onnx {
namespace {

using ::testing::ElementsAre;

camshaft::Graph imported(TestModel& model) {
  camshaft::Graph graph;
  ImportOptions options;
  options.fixedCaches = options.keepCopies = true;
  const std::vector<ImportProblem> problems = importModel(model.load(), graph, options);
  EXPECT_TRUE(problems.empty()) << problems[0].message;
  return graph;
}

std::vector<std::string> inputsOf(const camshaft::Graph& graph) {
  std::vector<std::string> names;
  for (const Value* input : graph.inputs) names.push_back(input->name);
  return names;
}

TEST(FixedCaches, AreWrittenWhereTheirLengthSays) {
  TestModel model;
  model.input("past", {"batch", 4, "n", 8})
      .input("fresh", {"batch", 4, "new", 8})
      .node({"Concat", {"past"}, {"copy"}, {{"axis", int64_t{-2}}}})  // as older exporters write
      .node({"Concat", {"copy", "fresh"}, {"present"}, {{"axis", int64_t{-2}}}})
      .node({"Shape", {"past"}, {"before"}})
      .node({"Relu", {"present"}, {"seen"}})
      .output("present")
      .output("before")
      .output("seen");
  const camshaft::Graph graph = imported(model);
  EXPECT_THAT(inputsOf(graph), ElementsAre("past", "fresh", "past_length"));
  const Shape& memory = graph.inputs[0]->shape();
  const Value* present = graph.outputs[0].value;
  EXPECT_EQ(present->name, "present");
  EXPECT_EQ(present->shape(), memory);
  ASSERT_EQ(present->producer->op, &ops::ScatterND);
  EXPECT_TRUE(present->producer->as<ScatterNDAttrs>().replacesData);
  EXPECT_EQ(present->producer->input(0), graph.inputs[0]);
  // What the model calls past and present is as long as ever.
  const camshaft::Dim before = graph.outputs[1].value->contents->at(2);
  EXPECT_NE(before, memory[2]);
  EXPECT_EQ(graph.outputs[2].value->shape()[2], before + camshaft::Dim::symbol("new"));
}

TEST(FixedCaches, OfAttentionToo) {
  TestModel model(23);
  for (const char* name : {"q", "k", "v"}) model.input(name, {"batch", 4, "new", 8});
  for (const char* name : {"past_k", "past_v"}) model.input(name, {"batch", 4, "", 8});
  model
      .node({"Attention", {"q", "k", "v", "", "past_k", "past_v"}, {"y", "present_k", "present_v"}})
      .output("y")
      .output("present_k")
      .output("present_v");
  const camshaft::Graph graph = imported(model);
  EXPECT_EQ(graph.inputs.back()->name, "past_length");
  for (size_t i : {1, 2})
    EXPECT_EQ(graph.outputs[i].value->producer->input(0), graph.inputs[i + 2]);
  EXPECT_EQ(graph.inputs[3]->shape(), graph.inputs[4]->shape()) << "all have one room";
}

// Inputs of fixed size, results that stay inside, and rows that come first are no such caches.
TEST(FixedCaches, AreThoseThatGrowFromRunToRun) {
  struct Case {
    std::variant<int64_t, std::string> length;
    std::vector<std::string> parts;
    std::string output;
  };
  const Case cases[] = {{int64_t{6}, {"past", "fresh"}, "joined"},
                        {"n", {"past", "fresh"}, "y"},
                        {"n", {"fresh", "past"}, "y"},
                        {"n", {"past", "fresh", "fresh"}, "joined"}};
  for (const Case& one : cases) {
    TestModel model;
    model.input("past", {"batch", one.length})
        .input("fresh", {"batch", 2})
        .node({"Concat", one.parts, {"joined"}, {{"axis", int64_t{1}}}})
        .node({"Relu", {"joined"}, {"y"}})
        .output(one.output);
    EXPECT_THAT(inputsOf(imported(model)), ElementsAre("past", "fresh")) << one.output;
  }
}

}  // namespace
}  // namespace camshaft::onnx
