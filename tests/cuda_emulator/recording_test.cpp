// Recordings of CUDA engines: what they are made of, and that nobody else notices.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "backends/cuda/runtime/code_library.h"
#include "backends/cuda/runtime/cuda_device.h"
#include "backends/cuda/runtime/graph_builder.h"
#include "backends/cuda/runtime/launchers.h"
#include "backends/cuda/runtime/libraries/library_queue.h"
#include "backends/cuda/runtime/queue.h"
#include "cuda_emulator/driver_devices.h"
#include "cuda_emulator/emulated_session.h"
#include "support/error.h"

namespace camshaft {
namespace {

using cuda::GraphBuilder;
using emulator::build;
using emulator::EmulatedBackend;
using emulator::kNetwork;
using emulator::Session;
using testing::HasSubstr;

// As a library would: launches of its own, on whatever stream it is given.
void launchLikeALibrary(const void* state, const LaunchArgs& args) {
  cuda::queueLibrary(
      args.stream, [] {},
      [&](void* stream) {
        LaunchArgs there = args;
        there.stream = stream;
        cuda::generatedLauncher().launch(state, there);
      });
}

// A step that cannot be part of a graph, every second one.
void launchReduceOutside(const void* state, const LaunchArgs& args) {
  if (GraphBuilder::of(args.stream) && args.outputs[0].rank == 1)
    fail(ErrorKind::kUnsupported, "it sings");
  cuda::generatedLauncher().launch(state, args);
}

RuntimeKernel kernelThat(void (*launch)(const void*, const LaunchArgs&)) {
  return {.name = "cuda/*", .launch = launch, .loadCode = cuda::generatedLauncher().loadCode};
}

TEST(Recording, CapturesNoStream) {
  EmulatedBackend backend;
  Session session(build(kNetwork));
  for (int i = 0; i < 3; ++i) EXPECT_NEAR(session.run(3), 3, 1e-5);
  EXPECT_EQ(backend.driver().count("cuGraphLaunch"), 2u);
  EXPECT_EQ(backend.driver().count("cuGraphAddNode", "kernel"), 2u);
  EXPECT_EQ(backend.driver().count("cuStreamBeginCapture"), 0u);
}

TEST(Recording, OfALibraryIsMadeInAContextOfItsOwn) {
  EmulatedBackend backend;
  const RuntimeKernel library = kernelThat(launchLikeALibrary);
  backend.useKernel(library);
  Session session(build(kNetwork));
  for (int i = 0; i < 3; ++i) EXPECT_NEAR(session.run(3), 3, 1e-5);
  EXPECT_EQ(backend.driver().count("cuGraphLaunch"), 2u);
  EXPECT_EQ(backend.driver().count("cuStreamBeginCapture", "own context"), 2u);
  EXPECT_EQ(backend.driver().count("cuStreamBeginCapture", "primary context"), 0u);
}

// What PyTorch's synchronize() does, in a thread that knows nothing of the others.
TEST(Recording, OtherThreadsSynchroniseTheDeviceMeanwhile) {
  EmulatedBackend backend;
  const RuntimeKernel library = kernelThat(launchLikeALibrary);
  backend.useKernel(library);
  const auto engine = build(kNetwork);
  const auto synchronise = emulator::DeviceFunctions::cuCtxSynchronize;
  std::atomic<bool> isDone{false};
  std::atomic<int> errors{0}, calls{0};
  std::thread other([&] {
    engine->device()->makeCurrent();
    for (; !isDone || calls == 0; ++calls) errors += synchronise() != CUDA_SUCCESS;
  });
  std::vector<std::thread> runners;
  for (int i = 0; i < 3; ++i)
    runners.emplace_back([&] {
      Session session(engine);
      void* stream = session.device->createStream();
      for (int64_t run = 0; run < 12; ++run)  // each shape is recorded once
        EXPECT_NEAR(session.run(1 + run / 2, stream), 1.0 + static_cast<double>(run / 2), 1e-5);
      session.device->destroyStream(stream);
    });
  for (std::thread& runner : runners) runner.join();
  isDone = true;
  other.join();
  EXPECT_EQ(errors, 0) << "of " << calls;
  EXPECT_EQ(backend.driver().count("cuGraphLaunch"), 18u);
}

// Somebody captures a stream, in the strictest mode, while another thread loads an engine and runs
// it: neither notices.
TEST(Recording, LoadingAndRunningLeavesACaptureOfOthersAlone) {
  EmulatedBackend backend;
  const auto first = build(kNetwork);
  const cuda::Driver& driver = backend.driver().table();
  first->device()->makeCurrent();
  CUstream captured = nullptr;
  CUgraph graph = nullptr;
  ASSERT_EQ(driver.cuStreamCreate(&captured, CU_STREAM_DEFAULT), CUDA_SUCCESS);
  ASSERT_EQ(driver.cuStreamBeginCapture(captured, CU_STREAM_CAPTURE_MODE_GLOBAL), CUDA_SUCCESS);
  std::thread other([&] {
    Session session(build(kNetwork));
    void* stream = session.device->createStream();
    for (int i = 0; i < 3; ++i) EXPECT_NEAR(session.run(3, stream), 3, 1e-5);
    session.device->destroyStream(stream);
  });
  other.join();
  EXPECT_EQ(driver.cuStreamEndCapture(captured, &graph), CUDA_SUCCESS);
  EXPECT_EQ(driver.cuGraphDestroy(graph), CUDA_SUCCESS);
  EXPECT_EQ(driver.cuStreamDestroy(captured), CUDA_SUCCESS);
}

Log collecting(std::vector<std::string>& messages) {
  return Log([&](Severity, std::string_view message) { messages.emplace_back(message); });
}

TEST(Recording, WhatCannotBeRecordedIsLaunchedByItself) {
  EmulatedBackend backend;
  const RuntimeKernel outside = kernelThat(launchReduceOutside);
  backend.useKernel(outside);
  Session session(build(kNetwork));
  std::vector<std::string> messages;
  session.context.setLog(collecting(messages));
  for (int i = 0; i < 4; ++i) EXPECT_NEAR(session.run(3), 3, 1e-5);
  ASSERT_EQ(messages.size(), 1u);
  EXPECT_THAT(messages[0],
              testing::AllOf(HasSubstr("is launched by itself"), HasSubstr("it sings")));
  backend.driver().clearCalls();
  EXPECT_NEAR(session.run(3), 3, 1e-5);
  EXPECT_EQ(backend.driver().count("cuGraphLaunch", "1 nodes"), 1u);
  EXPECT_EQ(backend.driver().count("cuLaunchKernelEx"), 1u);
}

TEST(Recording, NoRunFailsForWantOfOne) {
  EmulatedBackend backend;
  Session session(build(kNetwork));
  std::vector<std::string> messages;
  session.context.setLog(collecting(messages));
  EXPECT_NEAR(session.run(3), 3, 1e-5);
  backend.driver().failCall("cuGraphInstantiateWithFlags", 1, CUDA_ERROR_OUT_OF_MEMORY);
  for (int i = 0; i < 3; ++i) EXPECT_NEAR(session.run(3), 3, 1e-5);
  EXPECT_THAT(messages, testing::ElementsAre(HasSubstr("one by one")));
  EXPECT_NEAR(session.run(4), 4, 1e-5);
  EXPECT_NEAR(session.run(4), 4, 1e-5);
  EXPECT_EQ(backend.driver().count("cuGraphLaunch"), 1u);
  backend.driver().failCall("cuGraphLaunch", 1, CUDA_ERROR_INVALID_VALUE);
  for (int i = 0; i < 2; ++i) EXPECT_NEAR(session.run(4), 4, 1e-5);
  EXPECT_EQ(messages.size(), 2u);
}

constexpr char kAddSource[] = R"(
extern "C" __global__ void add(float* x, float term) { x[threadIdx.x] += term; })";

// A kernel that adds to four numbers, and a way to launch it as a library would.
class RecordedLibrary : public testing::Test {
 protected:
  RecordedLibrary()
      : device(cuda::currentDevice()),
        code((device.makeCurrent(), std::as_bytes(std::span(kAddSource)))),
        kernel(code.find("add", 0, 1)),
        x(&device),
        y(&device) {
    for (DeviceBuffer* buffer : {&x, &y}) buffer->reserve(16);
    stream = static_cast<CUstream>(device.createStream());
  }
  ~RecordedLibrary() override { device.destroyStream(stream); }

  // One block of four threads, which may overlap with the end of the kernel before.
  struct Launch {
    CUlaunchAttribute attribute = {};
    CUlaunchConfig config = {};
    Launch(CUstream on, unsigned sharedBytes, bool overlaps) {
      attribute.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
      attribute.value.programmaticStreamSerializationAllowed = overlaps;
      config = {.gridDimX = 1,
                .gridDimY = 1,
                .gridDimZ = 1,
                .blockDimX = 4,
                .blockDimY = 1,
                .blockDimZ = 1,
                .sharedMemBytes = sharedBytes,
                .hStream = on,
                .attrs = &attribute,
                .numAttrs = 1};
    }
    Launch(const Launch&) = delete;
  };

  CUresult add(CUstream on, void* to, float term, unsigned sharedBytes = 0, bool overlaps = false) {
    const Launch launch(on, sharedBytes, overlaps);
    void* parameters[] = {&to, &term};
    return cuda::driver().cuLaunchKernelEx(&launch.config, reinterpret_cast<CUfunction>(kernel),
                                           parameters, nullptr);
  }
  void addOurselves(void* to, float term) {
    const Launch launch(stream, 0, true);
    void* parameters[] = {&to, &term};
    cuda::queueKernel(launch.config, kernel, parameters, "add");
  }

  std::unique_ptr<Recording> record(const std::function<void(CUstream)>& work) {
    return device.record(stream, [&] {
      cuda::queueLibrary(stream, [] {}, [&](void* on) { work(static_cast<CUstream>(on)); });
    });
  }
  std::string whyNot(const std::function<void(CUstream)>& work) {
    try {
      record(work);
      return "it can";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kUnsupported);
      return error.message();
    }
  }
  std::vector<float> read(const DeviceBuffer& buffer) {
    std::vector<float> values(4);
    device.copy(values.data(), buffer.data(), 16, stream);
    return values;
  }

  EmulatedBackend backend;
  cuda::CudaDevice& device;
  cuda::CodeLibrary code;
  CUkernel kernel;
  DeviceBuffer x, y;
  CUstream stream = nullptr;
};

TEST_F(RecordedLibrary, ItsKernelsCopiesAndFillingsRunInTheCallersContext) {
  const auto recording = record([&](CUstream on) {
    const auto from = reinterpret_cast<CUdeviceptr>(x.data());
    const auto to = reinterpret_cast<CUdeviceptr>(y.data());
    cuda::driver().cuMemsetD8Async(from, 0, 16, on);
    EXPECT_EQ(add(on, x.data(), 1), CUDA_SUCCESS);
    EXPECT_EQ(add(on, x.data(), 2, 0, true), CUDA_SUCCESS);
    cuda::driver().cuMemcpyAsync(to, from, 16, on);
    EXPECT_EQ(add(on, y.data(), 4), CUDA_SUCCESS);
  });
  for (int i = 0; i < 2; ++i) recording->replay(stream);
  EXPECT_EQ(read(x), (std::vector<float>{3, 3, 3, 3}));
  EXPECT_EQ(read(y), (std::vector<float>{7, 7, 7, 7}));
  EXPECT_EQ(backend.driver().count("graph: cuLaunchKernelEx", "programmatic"), 2u);
}

TEST_F(RecordedLibrary, OurKernelsOverlapTheOneKernelTheyFollow) {
  const auto chain = device.record(stream, [&] {
    cuda::queueClearing(x.data(), 16, stream);
    addOurselves(x.data(), 1);  // not with the clearing
    addOurselves(x.data(), 2);
    cuda::queueLibrary(
        stream, [] {}, [&](void* on) { add(static_cast<CUstream>(on), x.data(), 4); });
    addOurselves(x.data(), 8);
    device.copy(y.data(), x.data(), 16, stream);
  });
  chain->replay(stream);
  EXPECT_EQ(read(y), (std::vector<float>{15, 15, 15, 15}));
  EXPECT_EQ(backend.driver().count("graph: cuLaunchKernelEx", "programmatic"), 2u);

  backend.driver().clearCalls();
  const auto branches = device.recordBranches(stream, {{}, {}, {0, 1}, {2}}, [&](size_t piece) {
    addOurselves(piece == 1 ? y.data() : x.data(), static_cast<float>(piece + 1));
  });
  branches->replay(stream);
  EXPECT_EQ(read(x), (std::vector<float>{23, 23, 23, 23}));
  EXPECT_EQ(read(y), (std::vector<float>{17, 17, 17, 17}));
  EXPECT_EQ(backend.driver().count("graph: cuLaunchKernelEx", "programmatic"), 1u);
}

TEST_F(RecordedLibrary, KernelsAreAllowedTheMemoryTheyWereAllowedThere) {
  const auto recording = record([&](CUstream on) {
    EXPECT_EQ(
        cuda::driver().cuFuncSetAttribute(reinterpret_cast<CUfunction>(kernel),
                                          CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 60000),
        CUDA_SUCCESS);
    EXPECT_EQ(add(on, x.data(), 1, 60000), CUDA_SUCCESS);
    kernel->maxDynamicShared = 48 << 10;  // there, not here
  });
  EXPECT_EQ(kernel->maxDynamicShared, 60000);
}

TEST_F(RecordedLibrary, SaysWhatCannotBePutIntoAGraph) {
  EXPECT_THAT(whyNot([&](CUstream on) {
                CUevent event = nullptr;
                cuda::driver().cuEventCreate(&event, 0);
                cuda::driver().cuEventRecord(event, on);
                cuda::driver().cuEventDestroy(event);
              }),
              HasSubstr("something other than kernels and copies"));
  CUdeviceptr own = 0;
  EXPECT_THAT(whyNot([&](CUstream on) {
                cuda::driver().cuMemAlloc(&own, 16);
                add(on, reinterpret_cast<void*>(own), 1);
              }),
              HasSubstr("memory of its own"));
  cuda::driver().cuMemFree(own);
  EXPECT_THAT(whyNot([&](CUstream) { fail(ErrorKind::kDevice, "no voice"); }),
              HasSubstr("no voice"));
  EXPECT_THAT(whyNot([&](CUstream on) {
                cuda::driver().cuCtxGetCurrent(&kernel->onlyIn);  // as if of a module loaded there
                add(on, x.data(), 1);
              }),
              HasSubstr("a kernel of a module"));
}

TEST_F(RecordedLibrary, IsNotInvolvedWhereNothingIsRecorded) {
  cuda::driver().cuMemsetD8Async(reinterpret_cast<CUdeviceptr>(x.data()), 0, 16, stream);
  cuda::queueLibrary(
      stream, [] { FAIL() << "prepared for nothing"; },
      [&](void* on) { add(static_cast<CUstream>(on), x.data(), 1); });
  EXPECT_EQ(read(x), (std::vector<float>{1, 1, 1, 1}));
  EXPECT_EQ(backend.driver().count("cuStreamBeginCapture"), 0u);
}

}  // namespace
}  // namespace camshaft
