#include "plan/planner.h"

#include <gtest/gtest.h>

#include <set>

#include "ops/ops.h"

namespace camshaft {
namespace {

Prepared prepareAll(const Node& node, const BuildContext&, int64_t) {
  Prepared prepared;
  prepared.inputs = allInputs(node);
  return prepared;
}
Verdict anything(const Node&, const BuildContext&) { return Verdict::yes(); }
bool overFirst(const Node&, int input) { return input == 0; }

const Kernel kPlain{.name = "test/plain", .supports = anything, .prepare = prepareAll};
const Kernel kInPlace{
    .name = "test/in_place", .supports = anything, .prepare = prepareAll, .inPlace = overFirst};

struct Planned {
  Graph graph;
  ProfilePlan plan;
  std::shared_ptr<const GrowingMemory> weights;
  const Step& step(std::string_view name) const {
    for (const Step& step : plan.steps)
      if (step.name == name) return step;
    ADD_FAILURE() << "no step " << name;
    return plan.steps.front();
  }
};

Planned planOf(const std::string& text, const Kernel& kernel = kPlain) {
  Planned result{parseGraph(text, findOp), {}, {}};
  separateOutputs(result.graph);
  std::vector<ChosenKernel> chosen;
  WeightsBuilder weights;
  for (const auto& node : result.graph.nodes()) {
    if (!needsKernel(*node)) continue;
    chosen.push_back({node.get(), &kernel, kernel.prepare(*node, {}, 0), {}});
    storePacked(chosen.back(), weights);
  }
  std::vector<std::string> guessed;
  BinariesBuilder binaries;
  result.plan =
      planProfile(result.graph, resolveProfile(result.graph, {}, guessed), std::move(chosen),
                  describeInputs(result.graph, false), false, weights, binaries);
  result.weights = weights.take();
  return result;
}

TEST(Planner, ViewsShareTheMemoryOfWhatTheyView) {
  const Planned planned = planOf(R"(
graph g(%x: f32[4, 6]) {
  %a = Softmax(%x) {axis = 1} "a"
  %v = Reshape(%a) {shape = [2, 12]}
  %w = Reshape(%v) {shape = [24]}
  %b = Softmax(%w) {axis = 0} "b"
  %in = Reshape(%x) {shape = [24]}
  %c = Softmax(%in) {axis = 0} "c"
  return %b, %c
})");
  EXPECT_EQ(planned.plan.steps.size(), 3u);
  const Operand& made = planned.step("a").outputs[0];
  const Operand& read = planned.step("b").inputs[0];
  EXPECT_EQ(made.place, Place::kArena);
  EXPECT_EQ(read.place, Place::kArena);
  EXPECT_EQ(read.offset, made.offset);
  EXPECT_EQ(read.tensor.dims.size(), 1u);
  EXPECT_EQ(planned.step("c").inputs[0].place, Place::kInput);
}

TEST(Planner, DyingInputsAreOverwrittenWhereTheKernelMay) {
  const std::string text = R"(
graph g(%x: f32[100]) {
  %a = Softmax(%x) {axis = 0} "a"
  %b = Softmax(%a) {axis = 0} "b"
  %c = Softmax(%b) {axis = 0} "c"
  %d = Softmax(%c) {axis = 0} "d"
  return %d
})";
  EXPECT_EQ(planOf(text).plan.arenaBytes, 2 * 512);
  const Planned inPlace = planOf(text, kInPlace);
  EXPECT_EQ(inPlace.plan.arenaBytes, 512);
  EXPECT_EQ(inPlace.step("b").inputs[0].offset, inPlace.step("b").outputs[0].offset);
}

TEST(Planner, ValuesReadLaterAreNotOverwritten) {
  const Planned planned = planOf(R"(
graph g(%x: f32[16]) {
  %a = Softmax(%x) {axis = 0} "a"
  %b = Softmax(%a) {axis = 0} "b"
  %c = Pointwise(%b, %a) {expr = add(x0:f32, x1:f32)} "c"
  %d = Pointwise(%c, %c) {expr = mul(x0:f32, x1:f32)} "d"
  %e = Softmax(%d) {axis = 0} "e"
  return %e
})",
                                 kInPlace);
  EXPECT_NE(planned.step("b").inputs[0].offset, planned.step("b").outputs[0].offset);
  // c may go over b, which dies; d reads c twice, so nothing may go over it.
  EXPECT_EQ(planned.step("c").inputs[0].offset, planned.step("c").outputs[0].offset);
  EXPECT_NE(planned.step("d").inputs[0].offset, planned.step("d").outputs[0].offset);
}

TEST(Planner, OutputsHaveMemoryOfTheirOwn) {
  const Planned planned = planOf(R"(
graph g(%x: f32[4]) {
  %k: f32[4] = constant [1, 2, 3, 4]
  %a = Softmax(%x) {axis = 0}
  %v = Reshape(%a) {shape = [2, 2]}
  return %a as "a", %a as "again", %v as "view", %x as "input", %k as "constant"
})");
  std::set<int32_t> written;
  for (const Step& step : planned.plan.steps)
    for (const Operand& output : step.outputs) {
      EXPECT_EQ(output.place, Place::kOutput);
      EXPECT_TRUE(written.insert(output.index).second)
          << "output " << output.index << " written twice";
    }
  EXPECT_EQ(written.size(), 5u);
}

TEST(Planner, EqualWeightsAreStoredOnce) {
  WeightsBuilder builder;
  const std::vector<std::byte> a(100, std::byte{1}), b(100, std::byte{2});
  const int64_t first = builder.add(a);
  EXPECT_NE(builder.add(b), first);
  EXPECT_EQ(builder.add(a), first);
  EXPECT_EQ(builder.take()->size(), 128u + 100u);
}

TEST(Planner, MemoryIsPlannedForTheLargestShape) {
  const Planned planned = planOf(R"(
symbols n in [1, 8]
graph g(%x: f32[n, 16], %rows: i64[1]) {
  BindDims(%rows) {symbols = [r]}
  %a = Softmax(%x) {axis = 1} "a"
  %b = Softmax(%a) {axis = 1}
  %e = Expand(%b) {shape = [r, n, 16]} "e"
  %f = Softmax(%e) {axis = 2}
  return %f
})");
  EXPECT_GE(planned.plan.arenaBytes, 8 * 16 * 4);
  ASSERT_EQ(planned.plan.dynamicBuffers.size(), 1u);  // r has no bound
  EXPECT_EQ(planned.step("e").outputs[0].place, Place::kDynamic);
  const Step& bind = planned.plan.steps[0];
  EXPECT_EQ(bind.kind, StepKind::kBindDims);
  EXPECT_EQ(bind.bindSlots.size(), 1u);
  EXPECT_LE(planned.plan.firstPhaseEnd, bind.dimBegin);
  EXPECT_EQ(bind.dimEnd, static_cast<int32_t>(planned.plan.dimProgram.size()));
}

TEST(Planner, SizesThatDependOnDataArePlannedAtTheirBound) {
  const Planned planned = planOf(R"(
symbols n in [1, 8], r in [0, 2*n]
graph g(%x: f32[n, 16], %rows: i64[1]) {
  BindDims(%rows) {symbols = [r]}
  %e = Expand(%x) {shape = [r, n, 16]} "e"
  %f = Softmax(%e) {axis = 2}
  %h = Expand(%x) {shape = [r, r, r, r, r, r, n, 16]} "h"
  %i = Softmax(%h) {axis = 7}
  return %f, %i
})");
  EXPECT_EQ(planned.step("e").outputs[0].place, Place::kArena);
  EXPECT_GE(planned.plan.arenaBytes, 16 * 8 * 16 * 4);
  EXPECT_EQ(planned.step("h").outputs[0].place, Place::kDynamic);  // 16^6 times as much
  const Step& bind = planned.plan.steps[0];
  EXPECT_EQ(bind.bindMin, std::vector<int64_t>{0});
  EXPECT_EQ(bind.bindMax, std::vector<int64_t>{16});
  EXPECT_EQ(planned.plan.outputMaxBytes[0], 16 * 8 * 16 * 4);
}

}  // namespace
}  // namespace camshaft
