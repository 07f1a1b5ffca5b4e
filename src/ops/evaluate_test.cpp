#include "ops/evaluate.h"

#include "testing/graph_text.h"

namespace camshaft {
namespace {

using ::testing::ElementsAre;
using testing::numbersOf;
using testing::parseBody;

HostTensor floats(Dims dims, std::vector<float> values) {
  return HostTensor(ConstTensorView(DataType::kF32, std::move(dims), values.data()));
}

TEST(EvaluateGraph, AppliesTheEpilogueWithItsOwnInputs) {
  const Graph graph = parseBody(
      "%y = MatMul(%a, %a) epilogue(%b) {cast(relu(add(x0:f32, x1:f32)), i32)}\nreturn %y",
      "%a: f32[2, 2], %b: f32[2]");
  const HostTensor a = floats({2, 2}, {1, 2, 3, 4}), b = floats({2}, {-8, 0.5f});
  const ConstTensorView inputs[] = {a.view(), b.view()};
  const HostTensor y = evaluateGraph(graph, inputs).at(0);
  EXPECT_EQ(y.type, DataType::kI32);
  EXPECT_THAT(numbersOf(y), ElementsAre(0, 10, 7, 22));
}

TEST(EvaluateGraph, TakesSymbolsFromInputsAndRefusesWhatContradictsThem) {
  const Graph graph =
      parseBody("%y = Concat(%a, %b) {axis = 0}\nreturn %y", "%a: f32[n], %b: f32[n]", "symbols n");
  const HostTensor two = floats({2}, {1, 2}), three = floats({3}, {1, 2, 3});
  const ConstTensorView equal[] = {two.view(), two.view()}, unequal[] = {two.view(), three.view()};
  EXPECT_THAT(evaluateGraph(graph, equal).at(0).dims, ElementsAre(4));
  EXPECT_THROW(evaluateGraph(graph, unequal), Error);
}

TEST(EvaluationBudget, EndsLoopsThatNeverEndAndTensorsThatNothingHolds) {
  const Graph endless = parseBody(
      "%y = Loop(_, _, %x) {body = {\n"
      "graph body(%i: i64[], %on: bool[], %v: f32[1]) {\n"
      "  %w = Pointwise(%v) {expr = neg(x0:f32)}\n"
      "  return %on, %w\n}\n}, carried = 1, sizes = [1]}\nreturn %y",
      "%x: f32[1]");
  const HostTensor one = floats({1}, {1});
  const ConstTensorView inputs[] = {one.view()};
  EvaluationBudget nodes(1 << 20, 1000);
  EXPECT_THROW(evaluateGraph(endless, inputs, &nodes), EvaluationBudget::Spent);

  const Graph huge =
      parseBody("%y = Expand(%x) {shape = [1000000, 1000000]}\nreturn %y", "%x: f32[1]");
  EvaluationBudget bytes(1 << 20, 1000);
  EXPECT_THROW(evaluateGraph(huge, inputs, &bytes), EvaluationBudget::Spent);
  EXPECT_THROW(HostTensor(DataType::kF32, {int64_t{1} << 40, int64_t{1} << 40}), Error);
}

}  // namespace
}  // namespace camshaft
