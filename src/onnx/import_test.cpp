#include "onnx/import.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ops/evaluate.h"
#include "ops/ops.h"
#include "testing/onnx_model.h"

namespace camshaft::onnx {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> messages(TestModel model) {
  camshaft::Graph graph;
  std::vector<std::string> texts;
  for (const ImportProblem& problem : model.import(graph)) texts.push_back(problem.message);
  return texts;
}

camshaft::Graph imported(TestModel& model) {
  camshaft::Graph graph;
  for (const ImportProblem& problem : model.import(graph)) ADD_FAILURE() << problem.message;
  verify(graph, "import");
  return graph;
}

std::vector<float> run(const camshaft::Graph& graph, const Dims& dims, std::vector<float> x) {
  const ConstTensorView view(DataType::kF32, dims, x.data());
  const HostTensor result = evaluateGraph(graph, std::span(&view, 1)).at(0);
  const auto* values = reinterpret_cast<const float*>(result.bytes.data());
  return {values, values + result.count()};
}

TEST(Import, NamesValuesAndNodesAsTheModelDoes) {
  TestModel model;
  model.input("x", {"batch", 3})
      .node({"Relu", {"x"}, {"hidden"}, {}, "act"})
      .node({"Exp", {"hidden"}, {"y"}})
      .output("y");
  const camshaft::Graph graph = imported(model);
  ASSERT_EQ(graph.nodeCount(), 2u);
  EXPECT_EQ(graph.nodes().front()->name, "act");
  EXPECT_THAT(graph.nodes().front()->origins.list(), ElementsAre("[ONNX Layer: act]"));
  EXPECT_EQ(graph.nodes().front()->output()->name, "hidden");
  EXPECT_EQ(graph.nodes().back()->name, "Exp_y");
  EXPECT_EQ(graph.outputs.at(0).name, "y");
  EXPECT_EQ(toString(graph.outputs[0].value->type), "f32[batch, 3]");
}

TEST(Import, SharesNamedDimensionsAndInventsUnknownOnes) {
  TestModel model;
  model.input("a", {"n", ""})
      .input("b", {"n", "2*k"})
      .input("c", {int64_t{-1}, "?", "?"})
      .node({"Identity", {"a"}, {"y"}})
      .output("y");
  const camshaft::Graph graph = imported(model);
  EXPECT_EQ(toString(graph.inputs[0]->shape()), "[n, a.1]");
  EXPECT_EQ(toString(graph.inputs[1]->shape()), "[n, d2_k]");
  EXPECT_EQ(toString(graph.inputs[2]->shape()), "[c.0, c.1, c.2]");
  EXPECT_EQ(graph.outputs[0].value, graph.inputs[0]);  // an alias, not a copy
}

TEST(Import, AnOutputThatIsAnInputHasANameOfItsOwn) {
  TestModel model;
  model.input("x", {"n"}).node({"Relu", {"x"}, {"y"}}).output("y").output("x");
  const camshaft::Graph graph = imported(model);
  ASSERT_EQ(graph.outputs.size(), 2u);
  EXPECT_EQ(graph.outputs[1].name, "x_output");
  EXPECT_EQ(graph.outputs[1].value, graph.inputs[0]);
  EXPECT_THAT(messages(TestModel()
                           .input("x", {"n"})
                           .node({"Relu", {"x"}, {"x_output"}})
                           .output("x_output")
                           .output("x")),
              ElementsAre(HasSubstr("output 'x' is also an input, and would be named 'x_output'")));
}

TEST(Import, ReportsEveryUnknownOperatorWithTheNearestName) {
  const auto texts = messages(TestModel()
                                  .input("x", {4})
                                  .node({"Relux", {"x"}, {"a"}, {}, "first"})
                                  .node({"Sigmod", {"a"}, {"b"}, {}, "second"})
                                  .node({"Exp", {"b"}, {"y"}})
                                  .output("y"));
  ASSERT_EQ(texts.size(), 2u);
  EXPECT_EQ(texts[0],
            "node 'first' (Relux, opset 17): this operator is not supported; the nearest known "
            "name is Relu");
  EXPECT_THAT(texts[1], HasSubstr("node 'second' (Sigmod, opset 17)"));
  EXPECT_THAT(texts[1], HasSubstr("Sigmoid"));
}

TEST(Import, ListsCausesAndNotTheirConsequences) {
  camshaft::Graph graph;
  TestModel model;
  model.input("x", {4}).node({"Softmax", {"x"}, {"a"}, {{"axis", int64_t{3}}}, "bad"});
  model.node({"Relu", {"a"}, {"b"}}).node({"Add", {"b", "gone"}, {"y"}}).output("y");
  const auto problems = model.import(graph);
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_EQ(problems[0].node, "bad");
  EXPECT_EQ(problems[0].op, "Softmax");
  EXPECT_EQ(problems[0].nodeIndex, 0);
  EXPECT_EQ(problems[0].kind, ErrorKind::kInvalidModel);
  EXPECT_THAT(problems[0].message, HasSubstr("axis 3 is outside a tensor of rank 1"));
}

TEST(Import, RanksThatNoTensorHasAreRefused) {
  constexpr int64_t kMany = int64_t{1} << 33;
  for (const TestNode& node : std::vector<TestNode>{{"Expand", {"x", "v"}, {"y"}},
                                                    {"Unsqueeze", {"x", "v"}, {"y"}},
                                                    {"Slice", {"x", "v", "v"}, {"y"}}}) {
    SCOPED_TRACE(node.op);
    EXPECT_THAT(
        messages(
            TestModel().input("x", {3}).input("v", {kMany}, kInt64Code).node(node).output("y")),
        ElementsAre(HasSubstr("a tensor has 64 at most")));
  }
}

TEST(Import, HidesBranchesThatReadWhatFailed) {
  const Message reads = Message()
                            .message(1, TestNode{"Exp", {"a"}, {"inner"}}.encode())
                            .message(12, Message().bytes(1, "inner"));
  EXPECT_THAT(messages(TestModel()
                           .input("x", {2})
                           .integers("yes", {1})
                           .node({"Cast", {"yes"}, {"always"}, {{"to", int64_t{9}}}})
                           .node({"Softmax", {"x"}, {"a"}, {{"axis", int64_t{5}}}, "bad"})
                           .node({"If", {"always"}, {"b"}, {{"then_branch", reads}}})
                           .node({"Neg", {"b"}, {"y"}})
                           .output("y")),
              ElementsAre(HasSubstr("node 'bad'")));
}

TEST(Import, SortsNodesThatAreOutOfOrder) {
  TestModel model;
  model.input("x", {2}).node({"Neg", {"h"}, {"y"}}).node({"Exp", {"x"}, {"h"}}).output("y");
  const camshaft::Graph graph = imported(model);
  EXPECT_EQ(graph.nodes().front()->output()->name, "h");
}

TEST(Import, NamesANodeOfACycle) {
  const auto texts = messages(TestModel()
                                  .input("x", {2})
                                  .node({"Add", {"x", "c"}, {"a"}, {}, "one"})
                                  .node({"Exp", {"a"}, {"c"}, {}, "two"})
                                  .output("c"));
  EXPECT_THAT(
      texts,
      ElementsAre(HasSubstr("node 'one' (Add, opset 17): it is part of a cycle of 2 nodes")));
}

TEST(Import, RefusesWhatIsMissingOrDouble) {
  EXPECT_THAT(messages(TestModel().input("x", {2}).node({"Add", {"x", "w"}, {"y"}}).output("y")),
              ElementsAre(HasSubstr("its input 'w' is made by no node, input or initializer")));
  EXPECT_THAT(messages(TestModel().input("x", {2}).output("z")),
              ElementsAre("output 'z' is made by no node"));
  EXPECT_THAT(messages(TestModel().input("x", {2}).input("x", {2}).output("x")),
              ElementsAre("two inputs are named 'x'"));
  EXPECT_THAT(messages(TestModel()
                           .input("x", {2})
                           .node({"Exp", {"x"}, {"y"}})
                           .node({"Neg", {"x"}, {"y"}})
                           .output("y")),
              ElementsAre(HasSubstr("tensor 'y' is made more than once")));
  EXPECT_THAT(messages(TestModel(0).input("x", {2}).output("x")),
              ElementsAre(HasSubstr("imports no opset")));
}

TEST(Import, RefusesInputsItHasNoTypeFor) {
  EXPECT_THAT(
      messages(TestModel().sequenceInput("s").node({"SequenceLength", {"s"}, {"y"}}).output("y")),
      ElementsAre(HasSubstr("input 's' is a sequence of elements without a shape")));
  EXPECT_THAT(messages(TestModel().input("x", {int64_t{-7}}).output("x")),
              ElementsAre(HasSubstr("input 'x'")));
  const int64_t huge = int64_t{1} << 40;
  EXPECT_THAT(messages(TestModel().input("x", {huge, huge}).output("x")),
              ElementsAre(HasSubstr("input 'x'")));
  EXPECT_THAT(messages(TestModel().input("x", {2}, 14).output("x")),
              ElementsAre(HasSubstr("COMPLEX64")));
}

TEST(Import, NamesTheAttributeThatIsWrong) {
  EXPECT_THAT(messages(TestModel()
                           .input("x", {2})
                           .node({"Elu", {"x"}, {"y"}, {{"alpha", int64_t{1}}}})
                           .output("y")),
              ElementsAre(HasSubstr("its attribute 'alpha' must be of type")));
  EXPECT_THAT(messages(TestModel().input("x", {2}).node({"Cast", {"x"}, {"y"}}).output("y")),
              ElementsAre(HasSubstr("it lacks its required attribute 'to'")));
}

TEST(Import, PicksTheFormOfTheModelsOpset) {
  TestModel old(9);
  old.input("x", {"n", 6})
      .node({"Slice",
             {"x"},
             {"y"},
             {{"starts", std::vector<int64_t>{1}},
              {"ends", std::vector<int64_t>{-1}},
              {"axes", std::vector<int64_t>{1}}}});
  old.output("y");
  EXPECT_EQ(toString(imported(old).outputs[0].value->type), "f32[n, 4]");
  EXPECT_THAT(
      messages(TestModel(17).input("x", {2}).node({"Gelu", {"x"}, {"y"}}).output("y")),
      ElementsAre(HasSubstr("this operator exists since opset 20 and the model imports opset 17")));
}

TEST(Import, FoldsShapeArithmeticIntoSymbols) {
  TestModel model;
  model.input("x", {"n", "s", 12})
      .integers("two", {2})
      .integers("four", {4})
      .integers("minusOne", {-1});
  model.node({"Shape", {"x"}, {"shape"}, {{"end", int64_t{2}}}});
  model.node({"Concat", {"shape", "four", "minusOne"}, {"target"}, {{"axis", int64_t{0}}}});
  model.node({"Reshape", {"x", "target"}, {"y"}}).output("y");
  EXPECT_EQ(toString(imported(model).outputs[0].value->type), "f32[n, s, 4, 3]");
}

// (height - 1) / 8 + 1, as exporters write the size of what strided convolutions leave.
TEST(Import, FollowsSizesThatAreDivided) {
  TestModel model(20);
  model.input("x", {"n", 3, "height"}).integers("less", {-1}).integers("eight", {8});
  model.integers("one", {1}).node({"Shape", {"x"}, {"height"}, {{"start", int64_t{2}}}});
  model.node({"Add", {"less", "height"}, {"last"}}).node({"Div", {"last", "eight"}, {"steps"}});
  model.node({"Add", {"one", "steps"}, {"size"}});
  model.node({"Shape", {"x"}, {"others"}, {{"end", int64_t{2}}}});
  model.node({"Concat", {"others", "size"}, {"sizes"}, {{"axis", int64_t{0}}}});
  model.node({"Resize", {"x", "", "", "sizes"}, {"y"}}).output("y");
  const camshaft::Graph graph = imported(model);
  EXPECT_EQ(toString(graph.outputs[0].value->type), "f32[n, 3, floordiv(height + 7, 8)]");
}

TEST(Import, ExpandsFunctionsWithTheirAttributes) {
  TestModel model;
  model.function("Leak", {"a"}, {"b"}, {"dim"},
                 {{"ReduceSum", {"a"}, {"b"}, {{"keepdims", {}, "dim"}}, "sum"}});
  model.input("x", {2, 2})
      .node({"Leak", {"x"}, {"y"}, {{"dim", int64_t{0}}}, "call", "local"})
      .output("y");
  const camshaft::Graph graph = imported(model);
  EXPECT_EQ(graph.nodes().front()->name, "call/sum");
  EXPECT_EQ(graph.outputs[0].value->rank(), 0);
  EXPECT_THAT(run(graph, {2, 2}, {1, 2, 3, 4}), ElementsAre(10));
}

TEST(Import, StopsFunctionsThatCallThemselves) {
  TestModel model;
  model.function("Self", {"a"}, {"b"}, {}, {{"Self", {"a"}, {"b"}, {}, "again", "local"}});
  model.input("x", {2}).node({"Self", {"x"}, {"y"}, {}, "call", "local"}).output("y");
  const auto texts = messages(model);
  ASSERT_EQ(texts.size(), 1u);
  EXPECT_THAT(texts[0], HasSubstr("functions call each other more than"));
}

TEST(Import, TakesInitializersAsConstants) {
  TestModel model;
  model.input("x", {2})
      .input("w", {2})
      .floats("w", {2}, {10, 20})
      .node({"Mul", {"x", "w"}, {"y"}})
      .output("y");
  const camshaft::Graph graph = imported(model);
  ASSERT_EQ(graph.inputs.size(), 1u);
  ASSERT_TRUE(graph.find("w")->isConstant());
  EXPECT_THAT(run(graph, {2}, {1, 2}), ElementsAre(10, 40));
}

TEST(Import, FixesInputsToGivenValues) {
  TestModel model(18);
  model.input("x", {2, 3})
      .input("axes", {1}, kInt64Code)
      .node({"ReduceSum", {"x", "axes"}, {"y"}, {{"keepdims", int64_t{0}}}})
      .output("y");
  const int64_t axis = 1;
  ImportOptions options;
  options.fixedInputs["axes"] = {{DataType::kI64, {1}}, ConstantData::of(std::span(&axis, 1))};
  camshaft::Graph graph;
  ASSERT_TRUE(importModel(model.load(), graph, options).empty());
  ASSERT_EQ(graph.inputs.size(), 1u);
  EXPECT_THAT(run(graph, {2, 3}, {1, 2, 3, 4, 5, 6}), ElementsAre(6, 15));
}

TEST(Import, ReadsSliceBoundsAtRunTime) {
  TestModel model;
  model.input("x", {6})
      .input("from", {1}, kInt64Code)
      .integers("to", {INT64_MAX})
      .node({"Slice", {"x", "from", "to"}, {"y"}})
      .output("y");
  const camshaft::Graph graph = imported(model);
  const std::vector<float> x{0, 1, 2, 3, 4, 5};
  for (const int64_t from : {int64_t{2}, int64_t{-4}}) {
    const ConstTensorView inputs[] = {{DataType::kF32, {6}, x.data()},
                                      {DataType::kI64, {1}, &from}};
    EXPECT_THAT(evaluateGraph(graph, inputs).at(0).dims, ElementsAre(4)) << from;
  }
}

// Exporters write plugins of TensorRT in no domain or in one of their own, which is not imported.
TEST(Import, PluginsAreKnownInAnyDomain) {
  for (const char* domain : {"", "trt.plugins"}) {
    TestModel model;
    model.input("value", {"n", 20, 8, 4})
        .input("shapes", {2, 2}, 6)
        .input("starts", {2}, 6)
        .input("locations", {"n", "q", 8, 2, 3, 2})
        .input("weights", {"n", "q", 8, 2, 3})
        .node({"MultiscaleDeformableAttnPlugin_TRT",
               {"value", "shapes", "starts", "locations", "weights"},
               {"y"},
               {{"plugin_version", std::string("1")}},
               "attention",
               domain})
        .output("y");
    EXPECT_EQ(toString(imported(model).outputs[0].value->type), "f32[n, q, 8, 4]");
    model.value("y", {"n", "q", 32});
    EXPECT_EQ(toString(imported(model).outputs[0].value->type), "f32[n, q, 32]");
  }
}

}  // namespace
}  // namespace camshaft::onnx
