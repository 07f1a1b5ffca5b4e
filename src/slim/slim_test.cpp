#include "slim/slim.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "onnx/import.h"
#include "onnx/write/printers.h"
#include "ops/evaluate.h"
#include "ops/ops.h"
#include "testing/onnx_model.h"

namespace camshaft {
namespace {

using onnx::TestModel;
using testing::ElementsAre;

std::vector<std::string> operatorsOf(const onnx::Model& model) {
  std::vector<std::string> operators;
  for (const auto& node : model.graph.nodes) operators.emplace_back(node.opType);
  return operators;
}

// Both models on the same input give the same numbers.
void expectSameResults(TestModel& model, const std::string& slimmed, const Dims& dims) {
  const Graph before = onnx::importModel(model.load());
  const Graph after = onnx::importModel(onnx::readModelBytes(onnx::asBytes(slimmed)));
  HostTensor x(DataType::kF32, dims);
  for (int64_t i = 0; i < x.count(); ++i)
    reinterpret_cast<float*>(x.bytes.data())[i] = static_cast<float>(i % 7) - 3.0f;
  const std::vector<ConstTensorView> inputs{std::as_const(x).view()};
  const auto expected = evaluateGraph(before, inputs), actual = evaluateGraph(after, inputs);
  ASSERT_EQ(expected.size(), actual.size());
  for (size_t o = 0; o < expected.size(); ++o) {
    ASSERT_EQ(expected[o].dims, actual[o].dims);
    for (int64_t i = 0; i < expected[o].count(); ++i)
      EXPECT_NEAR(readElement(expected[o].type, expected[o].bytes.data(), i),
                  readElement(actual[o].type, actual[o].bytes.data(), i), 1e-5);
  }
}

TEST(Slim, ShapeArithmeticBecomesZerosAndMinusOne) {
  TestModel model;
  model.input("x", {"n", "s", 8})
      .integers("first", {0})
      .integers("heads", {2})
      .integers("rest", {-1})
      .node({"Shape", {"x"}, {"shape"}})
      .node({"Gather", {"shape", "first"}, {"n"}})
      .node({"Concat", {"n", "rest", "heads"}, {"target"}, {{"axis", int64_t{0}}}})
      .node({"Reshape", {"x", "target"}, {"y"}})
      .output("y");
  SlimModel slimmed = slim(model.load());
  EXPECT_THAT(operatorsOf(slimmed.model()), ElementsAre("Reshape"));
  expectSameResults(model, slimmed.encode(), {3, 4, 8});
}

TEST(Slim, UnchangedNodesKeepTheirSpelling) {
  TestModel model;
  model.input("x", {"n", 3})
      .floats("w", {3, 2}, {1, 2, 3, 4, 5, 6})
      .floats("b", {2}, {1, -1})
      .node({"Identity", {"x"}, {"same"}})
      .node({"Gemm", {"same", "w", "b"}, {"g"}, {{"alpha", 0.5f}}, "gemm"})
      .node({"HardSigmoid", {"g"}, {"y"}, {}, "activation"})
      .output("y");
  SlimModel slimmed = slim(model.load());
  EXPECT_THAT(operatorsOf(slimmed.model()), ElementsAre("Gemm", "HardSigmoid"));
  EXPECT_EQ(slimmed.model().graph.nodes[0].name, "gemm");
  EXPECT_EQ(slimmed.model().graph.nodes[0].inputs[0], "x");
  EXPECT_EQ(slimmed.report().nodes.before, 3);
  EXPECT_EQ(slimmed.report().nodes.after, 2);
  EXPECT_EQ(slimmed.report().operators.at("Identity").after, 0);
  expectSameResults(model, slimmed.encode(), {4, 3});
}

TEST(Slim, AdditionsToProductsOfMatricesBecomeGemm) {
  TestModel model;
  model.input("x", {"n", 3})
      .floats("w", {3, 2}, {1, 2, 3, 4, 5, 6})
      .floats("b", {2}, {1, -1})
      .node({"MatMul", {"x", "w"}, {"p"}})
      .node({"Add", {"b", "p"}, {"y"}})
      .output("y");
  SlimModel slimmed = slim(model.load());
  EXPECT_THAT(operatorsOf(slimmed.model()), ElementsAre("Gemm"));
  expectSameResults(model, slimmed.encode(), {4, 3});
}

TEST(Slim, OutputsThatAreInputsOrConstantsAreCopied) {
  TestModel model;
  model.input("x", {2})
      .floats("w", {2}, {1, 2})
      .node({"Identity", {"x"}, {"y"}})
      .node({"Identity", {"w"}, {"z"}})
      .output("y")
      .output("z");
  SlimModel slimmed = slim(model.load());
  EXPECT_THAT(operatorsOf(slimmed.model()), ElementsAre("Identity", "Identity"));
  expectSameResults(model, slimmed.encode(), {2});
}

// They are written as the ONNX nodes they came from, or not at all. A new operator of the IR either
// gets a line in printers.def or is added here on purpose.
TEST(Slim, OperatorsWithoutPrinterAreKnown) {
  const std::set<std::string_view> known = {
      // Made by passes that slimming does not run.
      "PointwiseNorm", "PointwiseParts", "NormMatMul", "MomentMatMul", "RowMoments", "Attention",
      // Asked for by users of the API, never by a model.
      "Observe",
      // Not an operator of ONNX, but a part of what one becomes.
      "BindDims", "ReshapeDims", "DeformColumns", "FoldColumns",
      // Of several results, or with bodies.
      "TopK", "NonZero", "NonMaxSuppression", "Unique", "Recurrent", "If", "Loop",
      // No pass changes them.
      "LinearAttention", "DeformableAttention", "BitCast", "RoiMaxPool", "Determinant", "Resize",
      "Dft", "MelWeights", "Trees", "NGrams", "Random", "MatMulInteger", "ConvInteger",
      "DynamicQuantize", "MatMulNBits", "Plugin"};
  std::set<std::string_view> missing;
  for (const Op op : allOps())
    if (!onnx::writer::printerOf(op)) missing.insert(op->name);
  EXPECT_EQ(missing, known);
}

}  // namespace
}  // namespace camshaft
