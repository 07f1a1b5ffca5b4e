// Branches and loops of CUDA engines: their bodies run on the device, and the host reads no more
// than what decides their course.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compiler/compile.h"
#include "conformance/run.h"
#include "cuda_emulator/emulated_backend.h"
#include "cuda_emulator/late_device.h"
#include "engine/engine_file.h"
#include "engine/tables.h"
#include "ops/control_flow.h"
#include "support/error.h"

namespace camshaft {
namespace {

using conformance::Problem;
using emulator::EmulatedBackend;
using emulator::LateDevice;
using testing::HasSubstr;

template <class T>
HostTensor tensor(DataType type, Dims dims, const std::vector<T>& values) {
  HostTensor result(type, std::move(dims));
  std::memcpy(result.view().data, values.data(), values.size() * sizeof(T));
  return result;
}
HostTensor floats(const Dims& dims) {
  int64_t count = 1;
  for (int64_t dim : dims) count *= dim;
  std::vector<float> values;
  for (int64_t i = 0; i < count; ++i) values.push_back(static_cast<float>(i % 7) / 8 - 0.25f);
  return tensor(DataType::kF32, dims, values);
}
HostTensor integer(int64_t value) { return tensor<int64_t>(DataType::kI64, {}, {value}); }
HostTensor flag(bool value) { return tensor<uint8_t>(DataType::kBool, {}, {value}); }

// An engine on the late device, and a context of it.
class Machine {
 public:
  explicit Machine(Graph graph, std::vector<ShapeProfile> profiles = {})
      : graph_(std::move(graph)) {
    CompileOptions options;
    options.device = "cuda";
    options.optimizationLevel = 0;
    options.profiles = std::move(profiles);
    engine_ = std::make_shared<LoadedEngine>(
        readEngine(writeEngine(compile(graph_.clone(), options))),
        [this](Device& device) { return std::make_unique<LateDevice>(device, counts_); });
    context_ = std::make_unique<Context>(engine_, 1);
  }
  explicit Machine(std::string_view text) : Machine(parseGraph(text, findOp)) {}

  const Plan& plan() const { return engine_->plan(); }
  const std::shared_ptr<const LoadedEngine>& engine() const { return engine_; }
  Context& context() { return *context_; }

  // What is wrong with the results, or "".
  std::string run(std::vector<HostTensor> inputs, int profile = 0) {
    return conformance::runOn(*context_, Problem(graph_, std::move(inputs), profile), 1e-4);
  }
  // What the device was asked for by a right run, besides that of the tensors to run on.
  LateDevice::Counts countsOf(const std::vector<HostTensor>& inputs) {
    counts_ = {};
    EXPECT_EQ(run(inputs), "");
    return counts_;
  }
  LateDevice::Counts& counts() { return counts_; }

 private:
  LateDevice::Counts counts_;
  Graph graph_;
  std::shared_ptr<const LoadedEngine> engine_;
  std::unique_ptr<Context> context_;
};

// The trip count is an input; everything else is known.
constexpr const char* kCounted = R"(
graph net(%x: f32[4, 8], %w: f32[8, 8], %m: i64[]) {
  %last, %all = Loop(%m, _, %x, %w) {body = {
    graph body(%i: i64[], %c: bool[], %h: f32[4, 8], %w: f32[8, 8]) {
      %p = MatMul(%h, %w)
      %next = Pointwise(%p, %i) {expr = tanh(add(x0:f32, cast(x1:i64, f32)))}
      %s = Reduce(%next) {kind = sum, axes = [1], keep_dims = false}
      return %c as "go", %next as "h", %s as "s"
    }}, carried = 1, sizes = [4, 8, t, 4], symbols = [t]}
  return %last, %all
})";
std::vector<HostTensor> countedInputs(int64_t trips) {
  return {floats({4, 8}), floats({8, 8}), integer(trips)};
}

TEST(Bodies, ACountedLoopWaitsForNothing) {
  EmulatedBackend backend;
  Machine machine(kCounted);
  ASSERT_EQ(machine.plan().bodies.size(), 1u);
  EXPECT_EQ(machine.plan().bodies[0]->device, "cuda");
  machine.countsOf(countedInputs(40));  // makes room
  const LateDevice::Counts few = machine.countsOf(countedInputs(3));
  const LateDevice::Counts many = machine.countsOf(countedInputs(40));
  EXPECT_EQ(many.copiesToHost, few.copiesToHost);
  EXPECT_EQ(many.waits, few.waits);
  EXPECT_EQ(many.copiesToDevice - few.copiesToDevice, 37) << "the iterations' numbers";
}

TEST(Bodies, OfALoopReplayTheirLaunches) {
  EmulatedBackend backend;
  Machine machine(kCounted);
  EXPECT_EQ(machine.run(countedInputs(20)), "");
  backend.driver().clearCalls();
  EXPECT_EQ(machine.run(countedInputs(20)), "");
  EXPECT_GE(backend.driver().count("cuGraphLaunch"), 19u);
  EXPECT_LE(backend.driver().count("cuLaunchKernelEx"), 6u);
  for (const int64_t trips : {1, 0, 7, 20, 2}) EXPECT_EQ(machine.run(countedInputs(trips)), "");
}

// What a recording wrote is known to those after it.
TEST(Bodies, OutputsThatABranchReadsAreReplayed) {
  EmulatedBackend backend;
  Machine machine(R"(
graph net(%x: f32[8]) {
  %s = Reduce(%x) {kind = max, axes = [0], keep_dims = false}
  %c = Pointwise(%s) {expr = less(x0:f32, 3.0:f32)}
  %y = If(%c, %x, %x) {then = {
    graph then(%v: f32[8]) {
      %w = Pointwise(%v) {expr = neg(x0:f32)}
      return %w as "w"
    }}, else = {
    graph otherwise(%v: f32[8]) {
      %w = Pointwise(%v) {expr = abs(x0:f32)}
      return %w as "w"
    }}, sizes = [8]}
  return %c, %s, %y
})");
  for (int i = 0; i < 4; ++i) EXPECT_EQ(machine.run({floats({8})}), "") << i;
  EXPECT_GT(backend.driver().count("cuGraphLaunch"), 0u);
}

TEST(Bodies, ADecidedLoopReadsOneBoolPerIteration) {
  EmulatedBackend backend;
  Machine machine(R"(
graph net(%x: f32[8], %limit: f32[]) {
  %y, %all = Loop(_, _, %x, %limit) {body = {
    graph body(%i: i64[], %c: bool[], %v: f32[8], %limit: f32[]) {
      %w = Pointwise(%v, %i) {expr = add(x0:f32, cast(x1:i64, f32))}
      %s = Reduce(%w) {kind = max, axes = [0], keep_dims = false}
      %more = Pointwise(%s, %limit) {expr = less(x0:f32, x1:f32)}
      return %more as "go", %w as "v", %s as "s"
    }}, carried = 1, sizes = [8, t], symbols = [t]}
  return %y, %all
})");
  const auto inputs = [](float limit) -> std::vector<HostTensor> {
    return {floats({8}), tensor<float>(DataType::kF32, {}, {limit})};
  };
  machine.countsOf(inputs(200));                                         // makes room
  const LateDevice::Counts few = machine.countsOf(inputs(2));            // 0.5 + 0 + 1 + 2
  const LateDevice::Counts many = machine.countsOf(inputs(0.5f + 100));  // + ... + 14
  EXPECT_EQ(many.copiesToHost - few.copiesToHost, 12);
  EXPECT_EQ(many.waits - few.waits, 12);
}

TEST(Bodies, IterationsLeadTheHostWithoutCopies) {
  EmulatedBackend backend;
  for (const conformance::Case& c : conformance::allCases()) {
    if (c.name != "loops_in_a_loop" && c.name != "loop_over_prefixes") continue;
    Machine machine(c.graph(), c.profiles(c.graph()));
    const auto inputs = [&](double trips) {
      conformance::Run run = c.runs[0];
      run.values["m"] = {trips};
      return c.inputs(c.graph(), run);
    };
    machine.countsOf(inputs(5));
    const LateDevice::Counts few = machine.countsOf(inputs(2)), many = machine.countsOf(inputs(5));
    EXPECT_EQ(many.copiesToHost, few.copiesToHost) << c.name;
    EXPECT_EQ(many.waits, few.waits) << c.name;
  }
}

TEST(Bodies, ABranchReadsOneBool) {
  EmulatedBackend backend;
  Machine machine(R"(
graph net(%x: f32[8], %c: bool[]) {
  %y = If(%c, %x, %x) {then = {
    graph yes(%x: f32[8]) {
      %y = Softmax(%x) {axis = 0}
      return %y
    }}, else = {
    graph no(%x: f32[8]) {
      %y = Pointwise(%x) {expr = neg(x0:f32)}
      return %y
    }}, sizes = [8]}
  return %y
})");
  std::vector<StepKind> kinds;
  for (const Step& step : machine.plan().profiles[0].steps) kinds.push_back(step.kind);
  EXPECT_THAT(kinds, testing::ElementsAre(StepKind::kCopy, StepKind::kIf));
  for (const bool yes : {true, false, true, true}) {
    backend.driver().clearCalls();
    const LateDevice::Counts counts = machine.countsOf({floats({8}), flag(yes)});
    EXPECT_EQ(counts.copiesToHost, 1 + 1) << "the condition, and this test's result";
    EXPECT_EQ(backend.driver().count("cuMemcpyAsync", "1 bytes"), 1u + 1) << "to and from";
  }
}

TEST(Bodies, EveryCaseIsRightHoweverLateCopiesAre) {
  EmulatedBackend backend;
  int cases = 0;
  for (const conformance::Case& c : conformance::allCases()) {
    const Graph graph = c.graph();
    if (std::ranges::none_of(graph.nodes(), [](const auto& node) { return hasBodies(*node); }))
      continue;
    ++cases;
    Machine machine(graph.clone(), c.profiles(graph));
    for (int round = 0; round < 3; ++round)
      for (size_t i = 0; i < c.runs.size(); ++i)
        EXPECT_EQ(machine.run(c.inputs(graph, c.runs[i]), c.profileOf(i)), "")
            << c.name << " run " << i;
  }
  EXPECT_GE(cases, 8);
}

TEST(Bodies, OfIntegersStayOnTheHost) {
  EmulatedBackend backend;
  for (const conformance::Case& c : conformance::allCases()) {
    if (c.name != "loop_of_integers") continue;
    Machine machine(c.graph(), c.profiles(c.graph()));
    ASSERT_EQ(machine.plan().bodies.size(), 1u);
    EXPECT_EQ(machine.plan().bodies[0]->device, "cpu");
  }
}

TEST(Bodies, SizesAsTripCountsStayOnTheHost) {
  EmulatedBackend backend;
  for (const conformance::Case& c : conformance::allCases()) {
    if (c.name != "recurrent_loop") continue;
    Machine machine(c.graph(), c.profiles(c.graph()));
    for (const Step& step : machine.plan().profiles[0].steps)
      EXPECT_NE(step.kind, StepKind::kCopy) << step.name;
  }
}

// More than are written ahead.
TEST(Bodies, IterationsAreCountedOnAndOn) {
  EmulatedBackend backend;
  Machine machine(R"(
graph net(%x: f32[1], %m: i64[]) {
  %y = Loop(%m, _, %x) {body = {
    graph body(%i: i64[], %c: bool[], %v: f32[1]) {
      %w = Pointwise(%v, %i) {expr = sub(cast(x1:i64, f32), x0:f32)}
      return %c as "go", %w as "v"
    }}, carried = 1, sizes = [1]}
  return %y
})");
  for (const int64_t trips : {5000, 3, 9001})
    EXPECT_EQ(machine.run({floats({1}), integer(trips)}), "");
}

// The second iteration gives more than the first.
TEST(Bodies, ARunThatFailsLeavesTheContextUsable) {
  EmulatedBackend backend;
  Machine machine(R"(
graph net(%x: f32[n], %m: i64[]) {
  %y, %all = Loop(%m, _, %x) {body = {
    symbols a
    graph body(%i: i64[], %c: bool[], %v: f32[a]) {
      %w = Concat(%v, %v) {axis = 0}
      return %c as "go", %w as "v", %v as "all"
    }}, carried = 1, sizes = [e, t, a], symbols = [e, t, a]}
  return %y, %all
})");
  const auto fails = [&] {
    // Nothing is wanted of it, so it is run by hand.
    DeviceBuffer x(machine.engine()->device()), m(machine.engine()->device());
    DeviceBuffer y(machine.engine()->device()), all(machine.engine()->device());
    for (DeviceBuffer* buffer : {&x, &m, &y, &all}) buffer->reserve(1024);
    const HostTensor trips = integer(2);
    upload(*machine.engine()->device(), m.data(), trips.bytes.data(), 8);
    Context& context = machine.context();
    context.setInputShape(0, std::vector<int64_t>{3});
    context.setInputAddress(0, x.data());
    context.setInputAddress(1, m.data());
    context.setOutputAddress(0, y.data());
    context.setOutputAddress(1, all.data());
    context.run();
  };
  EXPECT_EQ(machine.run({floats({3}), integer(1)}), "");
  try {
    fails();
    ADD_FAILURE() << "not noticed";
  } catch (const Error& error) {
    EXPECT_THAT(error.message(), HasSubstr("gives a scan output another size in iteration 1"));
  }
  EXPECT_EQ(machine.run({floats({3}), integer(1)}), "");
  EXPECT_EQ(machine.run({floats({5}), integer(0)}), "");
}

// Plans that a file with a right checksum might hold.
TEST(Bodies, ThatLieAreRefused) {
  EmulatedBackend backend;
  CompileOptions options;
  options.device = "cuda";
  options.optimizationLevel = 0;
  const Graph graph = parseGraph(kCounted, findOp);
  const std::vector<std::byte> good = writeEngine(compile(graph.clone(), options));
  const auto refusalOf = [&](const std::function<void(Plan&, Step&, ProfilePlan&)>& spoil) {
    try {
      Plan plan = readEngine(good);
      for (Step& step : plan.profiles[0].steps)
        if (step.kind == StepKind::kLoop) spoil(plan, step, plan.bodies[0]->profiles[0]);
      plan = readEngine(assembleEngine(writeTables(plan), plan.weights));
      Context context(std::make_shared<LoadedEngine>(std::move(plan)), 1);
      return conformance::runOn(context, Problem(graph, countedInputs(3), 0), 1e-4);
    } catch (const Error& error) {
      return error.message();
    }
  };
  EXPECT_EQ(refusalOf([](Plan&, Step&, ProfilePlan&) {}), "");
  EXPECT_THAT(refusalOf([](Plan& plan, Step&, ProfilePlan& body) {
                body.outputs[1].dims[0] =
                    plan.bodies[0]->outputs[1].tensor.dims[0] = {.constant = 5};
              }),
              HasSubstr("was given 16 bytes and its shape has 20"));
  EXPECT_THAT(refusalOf([](Plan& plan, Step&, ProfilePlan& body) {
                body.outputs[1].dims[0] =
                    plan.bodies[0]->outputs[1].tensor.dims[0] = {.constant = 3};
              }),
              HasSubstr("writes 16 bytes to output"));
  EXPECT_THAT(refusalOf([](Plan&, Step&, ProfilePlan& body) { body.arenaBytes += 1 << 20; }),
              HasSubstr("the device memory given has"));
  EXPECT_THAT(
      refusalOf([](Plan& plan, Step&, ProfilePlan&) { plan.bodies[0]->inputs[2].isOnHost = true; }),
      HasSubstr("on the wrong side"));
  EXPECT_THAT(
      refusalOf([](Plan& plan, Step&, ProfilePlan&) { plan.bodies[0]->inputs[3].isOnHost = true; }),
      HasSubstr("memory of the other side"));
  EXPECT_THAT(refusalOf([](Plan&, Step& step, ProfilePlan&) { step.inputs[0] = step.inputs[2]; }),
              HasSubstr("limits are no scalars"));
}

TEST(Bodies, CannotBeCaptured) {
  EmulatedBackend backend;
  Machine machine(kCounted);
  EXPECT_EQ(machine.run(countedInputs(3)), "");
  const cuda::Driver& driver = backend.driver().table();
  const auto stream = static_cast<CUstream>(machine.engine()->device()->createStream());
  CUgraph graph = nullptr;
  ASSERT_EQ(driver.cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL), CUDA_SUCCESS);
  try {
    machine.context().run(stream);
    ADD_FAILURE() << "not noticed";
  } catch (const Error& error) {
    EXPECT_THAT(error.message(),
                HasSubstr("is led by the host, so this engine cannot be captured"));
  }
  EXPECT_EQ(driver.cuStreamEndCapture(stream, &graph), CUDA_SUCCESS);
  driver.cuGraphDestroy(graph);
  machine.engine()->device()->destroyStream(stream);
  EXPECT_EQ(machine.run(countedInputs(3)), "");
}

TEST(Bodies, AreTimedAsOneLayer) {
  EmulatedBackend backend;
  Machine machine(kCounted);
  std::vector<std::string> layers;
  machine.context().setStepTimer(
      [&](const Step& step, double) { layers.push_back(step.info.layerType); });
  EXPECT_EQ(machine.run(countedInputs(5)), "");
  EXPECT_THAT(layers, testing::ElementsAre("Copy", "Loop"));
}

// The arena of bodies is part of the one around them, and so are the weights.
TEST(Bodies, ShareMemoryWithWhatIsAroundThem) {
  EmulatedBackend backend;
  Machine machine(R"(
graph net(%x: f32[4, 8], %m: i64[]) {
  %last = Loop(%m, _, %x) {body = {
    graph body(%i: i64[], %c: bool[], %h: f32[4, 8]) {
      %w: f32[8] = constant [1, 2, 3, 4, 5, 6, 7, 8]
      %p = Softmax(%h) {axis = 0}
      %q = Softmax(%p) {axis = 1}
      %next = Pointwise(%q, %w) {expr = add(x0:f32, x1:f32)}
      return %c as "go", %next as "h"
    }}, carried = 1, sizes = [4, 8]}
  return %last
})");
  const int64_t inside = machine.plan().bodies[0]->profiles[0].arenaBytes;
  EXPECT_GT(inside, 0);
  EXPECT_GE(machine.plan().profiles[0].arenaBytes, inside);
  EXPECT_EQ(machine.counts().allocations, 2) << "weights and arena";
  EXPECT_EQ(machine.run({floats({4, 8}), integer(3)}), "");
}

TEST(Bodies, GiveEverythingBack) {
  EmulatedBackend backend;
  {
    Machine machine(kCounted);
    for (const int64_t trips : {3, 5, 5, 0}) EXPECT_EQ(machine.run(countedInputs(trips)), "");
  }
  EXPECT_EQ(backend.driver().leaks(), "");
}

// Casts are made in the body: what goes in and out of it stays as it is.
TEST(Bodies, ComputeInSixteenBitsWhereThatIsAllowed) {
  EmulatedBackend backend;
  CompileOptions options;
  options.device = "cuda";
  options.optimizationLevel = 0;
  options.allowF16 = true;
  const Plan plan = compile(parseGraph(kCounted, findOp), options);
  const Plan& body = *plan.bodies[0];
  for (const IoTensor& output : body.outputs) EXPECT_EQ(output.tensor.type, DataType::kF32);
  bool isNarrow = false;
  for (const Step& step : body.profiles[0].steps)
    for (const Operand& output : step.outputs) isNarrow |= output.tensor.type == DataType::kF16;
  EXPECT_TRUE(isNarrow);
}

}  // namespace
}  // namespace camshaft
