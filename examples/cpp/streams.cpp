// One engine, several contexts: each has its own memory and runs independently of the others, on a
// stream of its own where the engine is for a GPU, in a thread of its own where it is for the CPU.
//
//   g++ -std=c++17 streams.cpp -I../../include -L../../build/lib -lcamshaft -pthread
//   ./streams [gpu]

#include <cmath>
#include <cstring>
#include <thread>

#include "CamshaftDevice.h"
#include "sample.h"

using namespace nvinfer1;

namespace {

constexpr int64_t kRows = 16, kCount = kRows * 64;

// Runs of a context on a GPU are queued: the host waits once, at the end.
void runOnStream(ICudaEngine& engine, const std::vector<float>& in, std::vector<float>& out) {
  IDevice& device = *engine.getDevice();
  std::unique_ptr<IExecutionContext> context(engine.createExecutionContext());
  cudaStream_t stream = device.createStream();
  constexpr int64_t kBytes = kCount * sizeof(float);
  void *x = device.allocate(kBytes), *y = device.allocate(kBytes);
  context->setTensorAddress("x", x);
  context->setTensorAddress("y", y);
  require(device.copy(x, in.data(), kBytes, stream) && context->enqueueV3(stream) &&
              device.copy(out.data(), y, kBytes, stream) && device.synchronize(stream),
          "a run on the GPU");
  device.release(x);
  device.release(y);
  device.destroyStream(stream);
}

// On the CPU enqueueV3 returns when the results are there.
void runHere(ICudaEngine& engine, const std::vector<float>& in, std::vector<float>& out) {
  std::unique_ptr<IExecutionContext> context(engine.createExecutionContext());
  context->setInputTensorAddress("x", in.data());
  context->setTensorAddress("y", out.data());
  require(context->enqueueV3(nullptr), "a run on the CPU");
}

}  // namespace

int main(int argc, char** argv) {
  const bool onGpu = argc > 1 && std::strcmp(argv[1], "gpu") == 0;
  Logger logger;
  std::unique_ptr<IBuilder> builder(createInferBuilder(logger));
  std::unique_ptr<INetworkDefinition> network(builder->createNetworkV2(0));
  std::vector<std::vector<float>> weights;
  addPerceptron(*network, weights, kRows);
  std::unique_ptr<IBuilderConfig> config(builder->createBuilderConfig());
  config->setDefaultDeviceType(onGpu ? DeviceType::kGPU : DeviceType::kCPU);
  std::unique_ptr<IHostMemory> plan(builder->buildSerializedNetwork(*network, *config));
  require(plan != nullptr, "buildSerializedNetwork");
  std::unique_ptr<IRuntime> runtime(createInferRuntime(logger));
  std::unique_ptr<ICudaEngine> engine(runtime->deserializeCudaEngine(plan->data(), plan->size()));

  constexpr int kContexts = 4;
  std::vector<std::vector<float>> outputs(kContexts, std::vector<float>(kCount));
  std::vector<std::thread> threads;
  for (int i = 0; i < kContexts; ++i)
    threads.emplace_back([&, i] {
      const std::vector<float> in(kCount, 0.1F * static_cast<float>(i % 2));
      (engine->getDevice() ? runOnStream : runHere)(*engine, in, outputs[i]);
    });
  for (std::thread& thread : threads) thread.join();
  for (int i = 0; i < kContexts; ++i) std::printf("context %d: y[0] = %.5f\n", i, outputs[i][0]);
  require(outputs[0] == outputs[2] && outputs[1] == outputs[3], "equal inputs, equal outputs");
  require(outputs[0] != outputs[1], "other inputs, other outputs");
}
