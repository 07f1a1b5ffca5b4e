// Host logic of CUDA engines, watched through the calls that reach the driver.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>

#include "backend/forwarding_device.h"
#include "backends/cuda/generated_params.h"
#include "cuda_emulator/emulated_session.h"
#include "support/byte_reader.h"
#include "support/error.h"

namespace camshaft {
namespace {

using emulator::build;
using emulator::EmulatedBackend;
using emulator::kNetwork;
using emulator::Session;
using testing::HasSubstr;

// Counts what is asked of it; the rest goes to the device.
class CountingDevice : public ForwardingDevice {
 public:
  CountingDevice(Device& device, int& held, int& asked)
      : ForwardingDevice(device), held_(held), asked_(asked) {}
  void* allocate(int64_t bytes) override {
    ++held_;
    ++asked_;
    return ForwardingDevice::allocate(bytes);
  }
  void release(void* memory) noexcept override {
    --held_;
    ForwardingDevice::release(memory);
  }

 private:
  int &held_, &asked_;
};

TEST(EmulatedRuntime, KernelsAreTimedInMemoryOfTheCallers) {
  EmulatedBackend backend;
  int held = 0, asked = 0;
  CompileOptions options;
  options.device = "cuda";
  options.timeLayers = true;
  options.wrapDevice = [&](Device& device) {
    return std::make_unique<CountingDevice>(device, held, asked);
  };
  options.profiles = {{.inputs = {{"x", {.min = {1, 8}, .opt = {4, 8}, .max = {16, 8}}}}}};
  compile(parseGraph(kNetwork, findOp), options);
  EXPECT_GE(asked, 4);  // operands of two layers
  EXPECT_EQ(held, 0);
}

// Each allocation of a build fails once: the kernel that needed it is dropped, or the build ends
// with a sentence; no kernel runs on memory that is not there, and nothing is kept.
TEST(EmulatedRuntime, ABuildWithoutMemorySaysSoAndKeepsNothing) {
  setenv("CAMSHAFT_TRIALS", "none", 1);  // the driver of this process is the one that fails
  size_t asked = 1;
  for (size_t n = 1; n <= asked; ++n) {
    EmulatedBackend backend;
    backend.driver().failAllocation(static_cast<int>(n));
    CompileOptions options;
    options.device = "cuda";
    options.timeLayers = true;
    options.profiles = {{.inputs = {{"x", {.min = {1, 8}, .opt = {4, 8}, .max = {16, 8}}}}}};
    try {
      const Plan plan = compile(parseGraph(kNetwork, findOp), options);
      EXPECT_EQ(plan.profiles[0].steps.size(), 2u) << n;
    } catch (const Error& error) {
      EXPECT_THAT(error.message(), HasSubstr("allocate")) << n;
    }
    EXPECT_EQ(backend.driver().leaks(), "") << n;
    asked = backend.driver().count("cuMemAlloc");
  }
  EXPECT_GE(asked, 4u);
  unsetenv("CAMSHAFT_TRIALS");
}

TEST(EmulatedRuntime, RecordsWhatIsAskedForTwiceAndReplaysIt) {
  EmulatedBackend backend;
  Session session(build(kNetwork));
  EXPECT_NEAR(session.run(3), 3, 1e-5);
  EXPECT_EQ(backend.driver().count("cuGraphInstantiateWithFlags"), 0u);
  for (int i = 0; i < 3; ++i) EXPECT_NEAR(session.run(3), 3, 1e-5);
  EXPECT_EQ(backend.driver().count("cuGraphInstantiateWithFlags"), 1u);
  EXPECT_EQ(backend.driver().count("cuGraphLaunch"), 3u);
  EXPECT_NEAR(session.run(5), 5, 1e-5) << "another shape is launched step by step first";
  EXPECT_NEAR(session.run(3), 3, 1e-5) << "and the first is still there";
  EXPECT_EQ(backend.driver().count("cuGraphInstantiateWithFlags"), 1u);
  EXPECT_EQ(backend.driver().count("cuGraphLaunch"), 4u);
}

TEST(EmulatedRuntime, OtherAddressesAreOtherRecordings) {
  EmulatedBackend backend;
  Session session(build(kNetwork));
  for (int i = 0; i < 2; ++i) session.run(2);
  DeviceBuffer elsewhere(session.device);
  elsewhere.reserve(32);
  session.context.setOutputAddress(0, elsewhere.data());
  session.run(2);
  std::vector<float> sums(8);
  session.device->copy(sums.data(), elsewhere.data(), 32, nullptr);
  EXPECT_NEAR(sums[0], 0.25, 1e-6);
}

// The emulated GPU runs what does not wait in the opposite order, so a wait forgotten would show.
TEST(EmulatedRuntime, BranchesWaitForWhatTheyNeedOnly) {
  EmulatedBackend backend;
  Session session(build(R"(
graph net(%x: f32[n, 8]) {
  %a = Softmax(%x) {axis = 1}
  %b = Softmax(%x) {axis = 0}
  %c = Concat(%a, %b) {axis = 0}
  %y = Reduce(%c) {kind = sum, axes = [0], keep_dims = false}
  return %y
})"));
  session.run(3);
  EXPECT_TRUE(session.context.hasBranches());
  session.context.setBranches(true);
  for (int i = 0; i < 3; ++i) EXPECT_NEAR(session.run(3), 3 + 8, 1e-5);
  EXPECT_EQ(backend.driver().count("cuGraphLaunch"), 2u);
}

TEST(EmulatedRuntime, AChainHasNoBranches) {
  EmulatedBackend backend;
  Session session(build(kNetwork));
  session.run(3);
  EXPECT_FALSE(session.context.hasBranches());
}

TEST(EmulatedRuntime, JoinsTheCallersOwnRecording) {
  EmulatedBackend backend;
  Session session(build(kNetwork));
  session.run(4);
  session.run(4);  // recorded by now
  const cuda::Driver& driver = backend.driver().table();
  const auto stream = static_cast<CUstream>(session.device->createStream());
  CUgraph graph = nullptr;
  CUgraphExec recording = nullptr;
  ASSERT_EQ(driver.cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL), CUDA_SUCCESS);
  session.context.run(stream);
  ASSERT_EQ(driver.cuStreamEndCapture(stream, &graph), CUDA_SUCCESS);
  ASSERT_EQ(driver.cuGraphInstantiateWithFlags(&recording, graph, 0), CUDA_SUCCESS);
  backend.driver().clearCalls();
  ASSERT_EQ(driver.cuGraphLaunch(recording, stream), CUDA_SUCCESS);
  EXPECT_EQ(backend.driver().count("graph: cuLaunchKernelEx"),
            session.context.engine().plan().profiles[0].steps.size());
  driver.cuGraphExecDestroy(recording);
  driver.cuGraphDestroy(graph);
  session.device->destroyStream(stream);
}

TEST(EmulatedRuntime, RunsInTheCallersMemory) {
  EmulatedBackend backend;
  Session session(build(kNetwork), Context::ArenaOwner::kCaller);
  const int64_t bytes = session.context.arenaBytes();
  ASSERT_GT(bytes, 0);
  EXPECT_THROW(session.run(2), Error) << "without memory";
  DeviceBuffer arena(session.device);
  arena.reserve(bytes);
  EXPECT_THROW(session.context.setArena(arena.data(), bytes - 1), Error);
  session.context.setArena(arena.data(), bytes);
  EXPECT_NEAR(session.run(2), 2, 1e-5);
}

std::string errorOf(const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) {
    return error.message();
  }
  return "no error";
}

TEST(EmulatedRuntime, RefusesAddressesTheDeviceCannotUse) {
  EmulatedBackend backend;
  Session session(build(kNetwork));
  std::vector<float> onHost(8);
  session.context.setOutputAddress(0, onHost.data());
  EXPECT_THAT(errorOf([&] { session.run(2); }), HasSubstr("'y' is in host memory"));
  session.context.setOutputAddress(0, session.output.data() + 4);
  EXPECT_THAT(errorOf([&] { session.run(2); }), HasSubstr("'y' is not a multiple of 16"));
  session.context.setOutputAddress(0, session.input.data() + 32);
  EXPECT_THAT(errorOf([&] { session.run(2); }), HasSubstr("'y' lies on memory of input 'x'"));
  session.context.setOutputAddress(0, session.output.data());
  EXPECT_NEAR(session.run(2), 2, 1e-5);
}

// What the host does with a generated kernel's parameters stays in bounds; what its code does is up
// to that.
TEST(EmulatedRuntime, RefusesDamagedParametersOfGeneratedKernels) {
  EmulatedBackend backend;
  const Plan good = build(kNetwork)->plan();
  const auto refusalOf = [&](const std::function<void(Step&)>& spoil) {
    Plan plan = good;
    spoil(plan.profiles[0].steps[0]);
    return errorOf([&] { Session(std::make_shared<LoadedEngine>(std::move(plan))).run(2); });
  };
  EXPECT_EQ(refusalOf([](Step&) {}), "no error");
  EXPECT_THAT(refusalOf([](Step& step) { step.params.pop_back(); }), HasSubstr("ends too early"));
  EXPECT_THAT(refusalOf([](Step& step) { step.params.emplace_back(); }), HasSubstr("too many"));
  EXPECT_THAT(refusalOf([](Step& step) { step.binary = -1; }), HasSubstr("lacks the device code"));
  EXPECT_THAT(refusalOf([](Step& step) { step.dimArgs.resize(2); }), HasSubstr("cannot run"));
  EXPECT_THAT(refusalOf([](Step& step) { step.dimArgs[0] = {.constant = int64_t{1} << 40}; }),
              HasSubstr("cannot run"));
  EXPECT_THAT(refusalOf([](Step& step) {
                cuda::GeneratedParams params =
                    ByteReader(step.params).read<cuda::GeneratedParams>();
                params.zeroedBytes = 1 << 30;
                ByteWriter writer;
                writer.write(params);
                step.params = writer.take();
              }),
              HasSubstr("cannot run"));
}

TEST(EmulatedRuntime, SaysHowMuchMemoryIsMissing) {
  EmulatedBackend backend;
  const auto engine = build(kNetwork);
  backend.driver().failAllocation(1);
  EXPECT_THAT(errorOf([&] { Context context(engine, 1); }), HasSubstr("MiB are free"));
}

TEST(EmulatedRuntime, GivesEverythingBack) {
  EmulatedBackend backend;
  {
    Session session(build(kNetwork));
    for (int i = 0; i < 3; ++i) session.run(4);
  }
  EXPECT_EQ(backend.driver().leaks(), "");
}

TEST(EmulatedRuntime, TimesStepsWithoutChangingResults) {
  EmulatedBackend backend;
  Session session(build(kNetwork));
  std::vector<std::string> steps;
  session.context.setStepTimer(
      [&](const Step& step, double) { steps.push_back(step.info.layerType); });
  EXPECT_NEAR(session.run(4), 4, 1e-5);
  EXPECT_THAT(steps, testing::ElementsAre("Softmax", "Reduce"));
}

// Sizes that only a tensor's values give are read on the host between two parts of the work.
TEST(EmulatedRuntime, ReadsSizesFromTheDevice) {
  EmulatedBackend backend;
  CompileOptions options;
  options.device = "cuda";
  options.optimizationLevel = 0;
  const LoadedEngine engine(compile(parseGraph(R"(
symbols a in [0, 100]
graph net(%x: f32[1, 8], %rows: f32[1]) {
  %count = Pointwise(%rows) {expr = cast(x0:f32, i64)}
  BindDims(%count) {symbols = [a]}
  %y = Expand(%x) {shape = [a, 8]}
  return %y
})",
                                               findOp),
                                    options));
  std::vector<StepKind> kinds;
  for (const Step& step : engine.plan().profiles[0].steps) kinds.push_back(step.kind);
  EXPECT_THAT(kinds, testing::ElementsAre(StepKind::kKernel, StepKind::kCopy, StepKind::kBindDims,
                                          StepKind::kKernel));
}

// An engine's word on where memory lies is not taken: kernels of a device would get the host's.
TEST(EmulatedRuntime, APlanForOneSideHasNoKernelsOfTheOther) {
  EmulatedBackend backend;
  const auto refusalOf = [](const std::function<void(Plan&)>& spoil) -> std::string {
    CompileOptions options;
    options.device = "cuda";
    options.optimizationLevel = 0;
    Plan plan = compile(parseGraph(kNetwork, findOp), options);
    spoil(plan);
    try {
      const LoadedEngine engine(std::move(plan));
      return "";
    } catch (const Error& error) {
      return error.message();
    }
  };
  EXPECT_EQ(refusalOf([](Plan&) {}), "");
  EXPECT_THAT(refusalOf([](Plan& plan) { plan.hasDeviceMemory = false; }),
              HasSubstr("its plan is not for that device"));
  EXPECT_THAT(refusalOf([](Plan& plan) { plan.device = "cpu"; }), HasSubstr("has none of its own"));
}

}  // namespace
}  // namespace camshaft
