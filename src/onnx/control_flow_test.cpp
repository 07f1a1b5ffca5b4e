// Subgraphs as bodies: captures, sizes that change, Scan.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "ops/control_flow.h"
#include "ops/shape.h"
#include "testing/onnx_model.h"

namespace camshaft::onnx {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr int64_t kBoolCode = 9;

Message subgraph(const std::vector<std::string>& inputs, const std::vector<TestNode>& nodes,
                 const std::vector<std::string>& outputs) {
  Message message;
  for (const TestNode& node : nodes) message.message(1, node.encode());
  for (const std::string& input : inputs) message.message(11, Message().bytes(1, input));
  for (const std::string& output : outputs) message.message(12, Message().bytes(1, output));
  return message;
}

camshaft::Graph imported(TestModel model) {
  camshaft::Graph graph;
  std::string problems;
  for (const ImportProblem& problem : model.import(graph)) problems += problem.message + "\n";
  EXPECT_EQ(problems, "");
  verify(graph, "import");
  return graph;
}

std::vector<std::string> messages(TestModel model) {
  camshaft::Graph graph;
  std::vector<std::string> texts;
  for (const ImportProblem& problem : model.import(graph)) texts.push_back(problem.message);
  return texts;
}

const camshaft::Node& only(const camshaft::Graph& graph, Op op) {
  for (const auto& node : graph.nodes())
    if (node->op == op) return *node;
  throw std::runtime_error(toText(graph));
}

std::vector<double> run(const camshaft::Graph& graph, const std::vector<HostTensor>& inputs,
                        size_t output = 0) {
  std::vector<ConstTensorView> views;
  for (const HostTensor& input : inputs) views.push_back(input.view());
  const HostTensor result = std::move(evaluateGraph(graph, views).at(output));
  std::vector<double> numbers;
  for (int64_t i = 0; i < result.count(); ++i)
    numbers.push_back(readElement(result.type, result.view().data, i));
  return numbers;
}

HostTensor floats(Dims dims, std::vector<float> values) {
  HostTensor tensor(DataType::kF32, std::move(dims));
  std::memcpy(tensor.view().data, values.data(), values.size() * sizeof(float));
  return tensor;
}
HostTensor integer(int64_t value) {
  HostTensor tensor(DataType::kI64, {});
  std::memcpy(tensor.view().data, &value, sizeof value);
  return tensor;
}
HostTensor flag(bool value) {
  HostTensor tensor(DataType::kBool, {});
  std::memcpy(tensor.view().data, &value, 1);
  return tensor;
}

TEST(ImportControlFlow, AnIfCapturesWhatItsBranchesRead) {
  const camshaft::Graph graph =
      imported(TestModel()
                   .input("x", {"n", 2})
                   .input("c", {}, kBoolCode)
                   .floats("w", {2}, {10, 20})
                   .node({"Neg", {"x"}, {"h"}})
                   .node({"If",
                          {"c"},
                          {"y"},
                          {{"then_branch", subgraph({}, {{"Add", {"h", "w"}, {"a"}}}, {"a"})},
                           {"else_branch", subgraph({}, {{"Exp", {"x"}, {"b"}}}, {"b"})}}})
                   .output("y"));
  const camshaft::Node& node = only(graph, &ops::If);
  EXPECT_EQ(node.inputs.size(), 3u);  // the condition, h and x: w is a constant inside
  EXPECT_EQ(toString(node.output()->type), "f32[n, 2]");
  EXPECT_TRUE(node.as<IfAttrs>().symbols.empty());
  EXPECT_THAT(run(graph, {floats({1, 2}, {1, 2}), flag(true)}), ElementsAre(9, 18));
  EXPECT_THAT(run(graph, {floats({1, 2}, {0, 0}), flag(false)}), ElementsAre(1, 1));
}

// Names of a subgraph are its own, also where the graph around it makes the same ones.
TEST(ImportControlFlow, ResultsMayBearTheNamesTheyHaveInside) {
  const Message inner = subgraph({}, {{"Neg", {"h"}, {"y"}}}, {"y"});
  const Message outer =
      subgraph({},
               {{"Add", {"x", "x"}, {"h"}},
                {"If", {"d"}, {"y"}, {{"then_branch", inner}, {"else_branch", inner}}}},
               {"y"});
  const camshaft::Graph graph =
      imported(TestModel()
                   .input("x", {"n"})
                   .input("c", {}, kBoolCode)
                   .input("d", {}, kBoolCode)
                   .node({"If",
                          {"c"},
                          {"y"},
                          {{"then_branch", outer},
                           {"else_branch", subgraph({}, {{"Exp", {"x"}, {"y"}}}, {"y"})}}})
                   .node({"Neg", {"y"}, {"h"}})
                   .output("h"));
  EXPECT_THAT(run(graph, {floats({2}, {1, 2}), flag(true), flag(false)}), ElementsAre(2, 4));
  EXPECT_THAT(run(graph, {floats({1}, {0}), flag(false), flag(true)}), ElementsAre(-1));

  TestModel loop;
  loop.input("x", {"n"}).input("m", {}, kInt64Code);
  loop.node({"Loop",
             {"m", "", "x"},
             {"w", "v"},  // inside, the carried value's name and the new one's
             {{"body", subgraph({"i", "c", "v"}, {{"Add", {"v", "x"}, {"w"}}}, {"c", "w", "w"})}}});
  const camshaft::Graph looped = imported(loop.output("w").output("v"));
  EXPECT_THAT(run(looped, {floats({1}, {3}), integer(2)}), ElementsAre(9));
  EXPECT_THAT(run(looped, {floats({1}, {3}), integer(2)}, 1), ElementsAre(6, 9));
}

TEST(ImportControlFlow, BranchesOfDifferentSizesGiveASymbol) {
  const camshaft::Graph graph = imported(
      TestModel()
          .input("x", {"n"})
          .input("c", {1}, kBoolCode)
          .node({"If",
                 {"c"},
                 {"y"},
                 {{"then_branch", subgraph({}, {{"Identity", {"x"}, {"a"}}}, {"a"})},
                  {"else_branch",
                   subgraph({}, {{"Concat", {"x", "x"}, {"b"}, {{"axis", int64_t{0}}}}}, {"b"})}}})
          .output("y"));
  const camshaft::Node& node = only(graph, &ops::If);
  ASSERT_EQ(node.as<IfAttrs>().symbols.size(), 1u);
  const SymbolInfo& size = graph.symbols.at(node.as<IfAttrs>().symbols[0].symbolName());
  EXPECT_EQ(*size.upper, max(camshaft::Dim::symbol("n"), camshaft::Dim::symbol("n") * 2));
}

TEST(ImportControlFlow, AScalarBesideAVectorOfOneBecomesOne) {
  const camshaft::Graph graph = imported(
      TestModel()
          .input("x", {1})
          .input("c", {}, kBoolCode)
          .integers("axes", {0})
          .node({"If",
                 {"c"},
                 {"y"},
                 {{"then_branch", subgraph({}, {{"Exp", {"x"}, {"a"}}}, {"a"})},
                  {"else_branch", subgraph({}, {{"Squeeze", {"x", "axes"}, {"b"}}}, {"b"})}}})
          .output("y"));
  EXPECT_EQ(toString(only(graph, &ops::If).output()->type), "f32[1]");
  EXPECT_THAT(run(graph, {floats({1}, {7}), flag(false)}), ElementsAre(7));
}

TEST(ImportControlFlow, BranchesOfDifferentRanksAreRefused) {
  EXPECT_THAT(
      messages(
          TestModel()
              .input("x", {"n"})
              .input("c", {}, kBoolCode)
              .integers("axes", {0})
              .node({"If",
                     {"c"},
                     {"y"},
                     {{"then_branch", subgraph({}, {{"Neg", {"x"}, {"a"}}}, {"a"})},
                      {"else_branch", subgraph({}, {{"Unsqueeze", {"x", "axes"}, {"b"}}}, {"b"})}}})
              .output("y")),
      ElementsAre(HasSubstr("both branches must give the same element type and rank")));
}

TEST(ImportControlFlow, SqueezesWrittenAsAnIfCountOnTheirSize) {
  const camshaft::Graph graph = imported(
      TestModel()
          .input("x", {"n", "m"})
          .integers("one", {1})
          .integers("axis", {1})
          .node({"Shape", {"x"}, {"s"}})
          .node({"Gather", {"s", "axis"}, {"d"}})
          .node({"Equal", {"d", "one"}, {"c"}})
          .node({"If",
                 {"c"},
                 {"y"},
                 {{"then_branch", subgraph({}, {{"Squeeze", {"x", "axis"}, {"a"}}}, {"a"})},
                  {"else_branch", subgraph({}, {{"Identity", {"x"}, {"b"}}}, {"b"})}}})
          .output("y"));
  EXPECT_EQ(graph.outputs[0].value->rank(), 1);
  EXPECT_TRUE(isAssertion(graph, only(graph, &ops::BindDims)));
}

TestModel loopModel(const std::vector<TestNode>& nodes, const std::vector<std::string>& outputs) {
  TestModel model;
  model.input("x", {"n"}).input("m", {}, kInt64Code);
  model.node({"Loop",
              {"m", "", "x"},
              {"y", "scans"},
              {{"body", subgraph({"i", "c", "v"}, nodes, outputs)}}});
  return model.output("y").output("scans");
}

TEST(ImportControlFlow, CarriedSizesThatStayAreKnown) {
  const camshaft::Graph graph = imported(loopModel({{"Add", {"v", "x"}, {"w"}}}, {"c", "w", "w"}));
  const camshaft::Node& node = only(graph, &ops::Loop);
  EXPECT_EQ(toString(node.outputs[0]->type), "f32[n]");
  EXPECT_EQ(node.outputs[1]->shape()[1], camshaft::Dim::symbol("n"));
  EXPECT_EQ(node.as<LoopAttrs>().symbols.size(), 1u);  // how many iterations
  EXPECT_THAT(run(graph, {floats({2}, {1, 2}), integer(3)}), ElementsAre(4, 8));
  EXPECT_THAT(run(graph, {floats({2}, {1, 2}), integer(2)}, 1), ElementsAre(2, 4, 3, 6));
}

TEST(ImportControlFlow, CarriedSizesThatChangeAreSymbols) {
  const camshaft::Graph graph =
      imported(loopModel({{"Concat", {"v", "x"}, {"w"}, {{"axis", int64_t{0}}}}}, {"c", "w", "x"}));
  const camshaft::Node& node = only(graph, &ops::Loop);
  EXPECT_EQ(node.as<LoopAttrs>().symbols.size(), 2u);
  EXPECT_THAT(run(graph, {floats({1}, {5}), integer(3)}), ElementsAre(5, 5, 5, 5));
}

TEST(ImportControlFlow, APlaceholderTakesTheRankThatTheBodySets) {
  TestModel model;
  model.input("x", {"n", 2}).input("m", {}, kInt64Code).integers("first", {0});
  model.node({"Cast", {"first"}, {"placeholder"}, {{"to", kFloatCode}}});
  model.node({"Loop",
              {"m", "", "placeholder"},
              {"y"},
              {{"body", subgraph({"i", "c", "v"}, {{"Neg", {"x"}, {"w"}}}, {"c", "w"})}}});
  const camshaft::Graph graph = imported(model.output("y"));
  EXPECT_EQ(graph.outputs[0].value->rank(), 2);
  EXPECT_THAT(run(graph, {floats({1, 2}, {1, 2}), integer(3)}), ElementsAre(-1, -2));
}

TEST(ImportControlFlow, ProblemsOfBodiesAreListedOnce) {
  EXPECT_THAT(messages(loopModel({{"Telepathy", {"v"}, {"w"}, {}, "odd"}}, {"c", "w", "w"})),
              ElementsAre(HasSubstr("odd' (Telepathy, opset 17)")));
}

TEST(ImportControlFlow, ScanGoesOverElementsBothWays) {
  TestModel model;
  model.input("s", {}).input("x", {"n", 3});
  model.node({"Scan",
              {"s", "x"},
              {"last", "sums"},
              {{"num_scan_inputs", int64_t{1}},
               {"scan_input_axes", std::vector<int64_t>{1}},
               {"scan_input_directions", std::vector<int64_t>{1}},
               {"scan_output_directions", std::vector<int64_t>{1}},
               {"scan_output_axes", std::vector<int64_t>{-1}},
               {"body", subgraph({"s", "e"},
                                 {{"Add", {"s", "e"}, {"w"}},
                                  {"ReduceMax", {"w"}, {"t"}, {{"keepdims", int64_t{0}}}}},
                                 {"t", "w"})}}});
  const camshaft::Graph graph = imported(model.output("last").output("sums"));
  EXPECT_EQ(toString(only(graph, &ops::Loop).outputs[1]->type), "f32[3, n]");
  const std::vector<HostTensor> inputs{floats({}, {0}), floats({2, 3}, {1, 2, 3, 40, 50, 60})};
  EXPECT_THAT(run(graph, inputs), ElementsAre(150));
  EXPECT_THAT(run(graph, inputs, 1), ElementsAre(111, 62, 3, 150, 110, 60));
}

TEST(ImportControlFlow, ALoopThatNeverEndsIsLeftToRunTime) {
  TestModel model;
  model.integers("first", {1})
      .node({"Loop",
             {"", "", "first"},
             {"size"},
             {{"body", subgraph({"i", "c", "v"}, {{"Neg", {"v"}, {"w"}}}, {"c", "w"})}}});
  const camshaft::Graph graph =
      imported(model.node({"ConstantOfShape", {"size"}, {"y"}}).output("y"));
  EXPECT_TRUE(graph.outputs[0].value->shape()[0].isSymbol());
}

}  // namespace
}  // namespace camshaft::onnx
