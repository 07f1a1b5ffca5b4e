// Memory, allocators, streams and profiles of contexts; also run on the emulated GPU.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <set>

#include "api/test_client.h"
#include "runtime/nvtx.h"

namespace camshaft::api {
namespace {

using namespace nvinfer1;
using testing::ElementsAre;
using testing::HasSubstr;
using Strategy = ExecutionContextAllocationStrategy;

// y = softmax(relu(x) x^T) for x [n, 8], in two profiles: up to 4 rows, and up to 64.
struct TwoProfiles : Client {
  TwoProfiles() {
    ITensor* x = input("x", Dims2(-1, 8));
    ITensor* relu = network->addActivation(*x, ActivationType::kRELU)->getOutput(0);
    ITensor* product =
        network->addMatrixMultiply(*relu, MatrixOperation::kNONE, *x, MatrixOperation::kTRANSPOSE)
            ->getOutput(0);
    auto* softmax = network->addSoftMax(*product);
    softmax->setAxes(2);
    output(softmax->getOutput(0), "y");
    for (const int64_t most : {4, 64}) {
      auto* profile = builder->createOptimizationProfile();
      profile->setDimensions("x", OptProfileSelector::kMIN, Dims2(1, 8));
      profile->setDimensions("x", OptProfileSelector::kOPT, Dims2(most, 8));
      profile->setDimensions("x", OptProfileSelector::kMAX, Dims2(most, 8));
      config->addOptimizationProfile(profile);
    }
  }
};

bool runs(const ICudaEngine& engine, IExecutionContext& context, int64_t rows) {
  const std::vector<float> data(static_cast<size_t>(rows) * 8, 0.f);
  TestMemory x(engine, data.data(), rows * 32), y(engine, nullptr, rows * rows * 4);
  EXPECT_TRUE(context.setInputShape("x", Dims2(rows, 8)));
  context.setTensorAddress("x", x.data());
  context.setTensorAddress("y", y.data());
  if (!context.enqueueV3(nullptr)) return false;
  return y.read<float>() ==
         std::vector<float>(static_cast<size_t>(rows * rows), 1.f / static_cast<float>(rows));
}

TEST(Contexts, HaveTheMemoryThatTheirStrategySays) {
  TwoProfiles client;
  const auto engine = client.build();
  ASSERT_TRUE(engine) << client.logger.errors.back();
  EXPECT_FALSE(engine->hasImplicitBatchDimension());
  const int64_t small = engine->getDeviceMemorySizeForProfileV2(0),
                large = engine->getDeviceMemorySizeForProfileV2(1);
  ASSERT_GT(small, 0);
  ASSERT_GT(large, small);
  EXPECT_EQ(engine->getDeviceMemorySizeV2(), large);
  for (const Strategy strategy : {Strategy::kSTATIC, Strategy::kON_PROFILE_CHANGE}) {
    const std::unique_ptr<IRuntimeConfig> config(engine->createRuntimeConfig());
    config->setExecutionContextAllocationStrategy(strategy);
    const std::unique_ptr<IExecutionContext> context(engine->createExecutionContext(config.get()));
    ASSERT_TRUE(context);
    EXPECT_EQ(context->getRuntimeConfig()->getExecutionContextAllocationStrategy(), strategy);
    for (const auto& [profile, rows] : {std::pair(0, 3), std::pair(1, 64), std::pair(0, 4)}) {
      ASSERT_TRUE(context->setOptimizationProfileAsync(profile, nullptr));
      EXPECT_EQ(context->getOptimizationProfile(), profile);
      EXPECT_TRUE(runs(*engine, *context, rows));
    }
    context->setDeviceMemoryV2(nullptr, 0);
    EXPECT_THAT(client.logger.errors.back(), HasSubstr("allocated its own memory"));
  }

  const std::unique_ptr<IExecutionContext> context(
      engine->createExecutionContext(Strategy::kUSER_MANAGED));
  EXPECT_EQ(static_cast<int64_t>(context->updateDeviceMemorySizeForShapes()), small);
  TestMemory memory(*engine, nullptr, large);
  client.logger.errors.clear();
  context->setDeviceMemoryV2(memory.data(), small - 1);
  ASSERT_EQ(client.logger.errors.size(), 1u);
  EXPECT_THAT(client.logger.errors[0], HasSubstr("profile 0 needs"));
  EXPECT_FALSE(runs(*engine, *context, 2)) << "there is no memory";
  context->setDeviceMemoryV2(memory.data(), small);
  EXPECT_TRUE(runs(*engine, *context, 2));
  ASSERT_TRUE(context->setOptimizationProfileAsync(1, nullptr));
  EXPECT_FALSE(runs(*engine, *context, 64)) << "the memory is that of another profile";
  context->setDeviceMemoryV2(memory.data(), large);
  EXPECT_TRUE(runs(*engine, *context, 64));
}

TEST(Contexts, HaveNvtxVerbosityUpToTheEngines) {
  TwoProfiles client;
  client.config->setProfilingVerbosity(ProfilingVerbosity::kLAYER_NAMES_ONLY);
  const auto engine = client.build();
  const std::unique_ptr<IExecutionContext> context(engine->createExecutionContext());
  EXPECT_EQ(context->getNvtxVerbosity(), ProfilingVerbosity::kLAYER_NAMES_ONLY);
  EXPECT_FALSE(context->setNvtxVerbosity(ProfilingVerbosity::kDETAILED));
  EXPECT_THAT(client.logger.errors.back(), HasSubstr("NVTX"));
  static std::vector<std::string> ranges;
  static int open = 0;
  const NvtxFunctions functions{[](const char* name) {
                                  ranges.emplace_back(name);
                                  return open++;
                                },
                                [] { return --open; }};
  replaceNvtx(&functions);
  EXPECT_TRUE(runs(*engine, *context, 2));
  EXPECT_EQ(static_cast<int32_t>(ranges.size()), engine->getNbLayers());
  EXPECT_EQ(open, 0);
  ranges.clear();
  EXPECT_TRUE(context->setNvtxVerbosity(ProfilingVerbosity::kNONE));
  EXPECT_EQ(context->getNvtxVerbosity(), ProfilingVerbosity::kNONE);
  EXPECT_TRUE(runs(*engine, *context, 2));
  EXPECT_TRUE(ranges.empty());
  replaceNvtx(nullptr);
  EXPECT_TRUE(context->setCommunicator(nullptr));
}

// y = softmax of s numbers from 0 on; nothing bounds s.
struct Counting : Client {
  std::vector<float> zero{0}, one{1};
  Counting() {
    ITensor* s = input("s", {1, {1}}, DataType::kINT64);
    auto* fill = network->addFill({1, {1}}, FillOperation::kLINSPACE, DataType::kFLOAT);
    fill->setInput(0, *s);
    fill->setInput(1, *network->addConstant({0, {}}, weightsOf(zero))->getOutput(0));
    fill->setInput(2, *network->addConstant({1, {1}}, weightsOf(one))->getOutput(0));
    auto* softmax = network->addSoftMax(*fill->getOutput(0));
    softmax->setAxes(1);
    auto* sum = network->addCumulative(*softmax->getOutput(0), *integers32({0}),
                                       CumulativeOperation::kSUM, false, false);
    output(sum->getOutput(0), "y");
  }
  std::vector<int32_t> axis{0};
  ITensor* integers32(const std::vector<int32_t>&) {
    return network->addConstant({0, {}}, weightsOf(axis, DataType::kINT32))->getOutput(0);
  }
};

class CountingAllocator : public IGpuAsyncAllocator {
 public:
  explicit CountingAllocator(IDevice& device) : device_(device) {}
  void* allocateAsync(uint64_t size, uint64_t, AllocatorFlags,
                      cudaStream_t stream) noexcept override {
    void* memory = device_.allocate(static_cast<int64_t>(size));
    live.insert(memory);
    streams.insert(stream);
    ++allocations;
    return memory;
  }
  bool deallocateAsync(void* memory, cudaStream_t stream) noexcept override {
    streams.insert(stream);
    live.erase(memory);
    device_.release(memory);
    return true;
  }
  std::set<void*> live;
  std::set<cudaStream_t> streams;
  int allocations = 0;

 private:
  IDevice& device_;
};

TEST(Contexts, TemporaryStorageIsTheAllocatorsAndGivenBack) {
  Counting client;
  const auto engine = client.build();
  ASSERT_TRUE(engine) << client.logger.errors.back();
  IDevice* device = engine->getDevice();
  const std::unique_ptr<IExecutionContext> context(engine->createExecutionContext());
  const int64_t size = 1000;
  TestMemory y(*engine, nullptr, size * 4);
  context->setInputTensorAddress("s", &size);
  context->setTensorAddress("y", y.data());
  ASSERT_TRUE(context->enqueueV3(nullptr)) << client.logger.errors.back();
  const std::vector<float> expected = y.read<float>();
  EXPECT_NEAR(expected.back(), 1, 1e-3);
  EXPECT_EQ(context->getTemporaryStorageAllocator(), nullptr);
  if (!device) return;  // the host's memory is no allocator's
  CountingAllocator allocator(*device);
  EXPECT_TRUE(context->setTemporaryStorageAllocator(&allocator));
  EXPECT_EQ(context->getTemporaryStorageAllocator(), &allocator);
  const cudaStream_t stream = device->createStream();
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(context->enqueueV3(stream));
    EXPECT_GT(allocator.allocations, i);
    EXPECT_TRUE(allocator.live.empty());
    EXPECT_THAT(allocator.streams, ElementsAre(stream));
  }
  EXPECT_EQ(y.read<float>(), expected);
  EXPECT_TRUE(context->setTemporaryStorageAllocator(nullptr));
  const int before = allocator.allocations;
  ASSERT_TRUE(context->enqueueV3(stream));
  EXPECT_EQ(allocator.allocations, before);
  device->destroyStream(stream);
}

TEST(Contexts, RuntimesUseTheirAllocatorForAllMemory) {
  TwoProfiles client;
  const auto engine = client.build();
  if (!engine->getDevice()) return;
  CountingAllocator allocator(*engine->getDevice());
  client.runtime->setGpuAllocator(&allocator);
  {
    const auto other = client.build();
    EXPECT_GT(allocator.allocations, 0) << "weights";
    const int weights = allocator.allocations;
    const std::unique_ptr<IExecutionContext> context(other->createExecutionContext());
    EXPECT_GT(allocator.allocations, weights) << "activations";
    EXPECT_TRUE(runs(*other, *context, 2));
  }
  EXPECT_TRUE(allocator.live.empty());
}

// An allocator that overrides the form with a stream alone.
class StreamAllocator : public IOutputAllocator {
 public:
  explicit StreamAllocator(TestMemory& memory) : memory_(memory) {}
  void* reallocateOutputAsync(const char*, void*, uint64_t, uint64_t,
                              cudaStream_t stream) override {
    given = stream;
    return memory_.data();
  }
  void notifyShape(const char*, const Dims& dims) noexcept override { shape = dims; }
  Dims shape{};
  cudaStream_t given = nullptr;

 private:
  TestMemory& memory_;
};

TEST(Contexts, OutputAllocatorsGetTheStreamOfTheRun) {
  TwoProfiles client;
  const auto engine = client.build();
  IDevice* device = engine->getDevice();
  const std::unique_ptr<IExecutionContext> context(engine->createExecutionContext());
  const std::vector<float> data(2 * 8, 0.f);
  TestMemory x(*engine, data.data(), 64), y(*engine, nullptr, 16);
  StreamAllocator allocator(y);
  context->setInputShape("x", Dims2(2, 8));
  context->setTensorAddress("x", x.data());
  ASSERT_TRUE(context->setOutputAllocator("y", &allocator));
  const cudaStream_t stream = device ? device->createStream() : nullptr;
  ASSERT_TRUE(context->enqueueV3(stream));
  EXPECT_EQ(allocator.given, stream);
  EXPECT_THAT(listOf(allocator.shape), ElementsAre(2, 2));
  if (device) device->synchronize(stream);
  EXPECT_THAT(y.read<float>(), ElementsAre(0.5f, 0.5f, 0.5f, 0.5f));
  if (device) device->destroyStream(stream);
}

TEST(Runtimes, ThatCannotBeLoadedAreRefusedInWords) {
  Client client;
  EXPECT_EQ(client.runtime->loadRuntime(nullptr), nullptr);
  EXPECT_THAT(client.logger.errors.back(), HasSubstr("no path"));
  EXPECT_EQ(client.runtime->loadRuntime("/nowhere/libruntime.so"), nullptr);
  EXPECT_THAT(client.logger.errors.back(), HasSubstr("/nowhere/libruntime.so"));
  EXPECT_EQ(client.runtime->loadRuntime("libm.so.6"), nullptr);
  EXPECT_THAT(client.logger.errors.back(), HasSubstr("createInferRuntime_INTERNAL"));
}

TEST(Inspecting, LayersHaveTensorRtsKeysAndNamesOfTheirOwn) {
  TwoProfiles client;
  client.config->setProfilingVerbosity(ProfilingVerbosity::kDETAILED);
  for (int32_t i = 0; i < client.network->getNbLayers(); ++i)
    client.network->getLayer(i)->setName("same");
  client.network->getLayer(0)->setMetadata("mine");
  const auto engine = client.build();
  const std::unique_ptr<IEngineInspector> inspector(engine->createEngineInspector());
  const auto engineJson = [&] {
    return nlohmann::json::parse(inspector->getEngineInformation(LayerInformationFormat::kJSON));
  };
  auto json = engineJson();
  EXPECT_EQ(json["Bindings"], (nlohmann::json{"x", "y"}));
  std::set<std::string> names;
  for (const auto& layer : json["Layers"]) {
    names.insert(layer["Name"]);
    for (const char* key : {"LayerType", "ParameterType", "TacticName", "TacticValue", "StreamId",
                            "Metadata", "Inputs", "Outputs"})
      EXPECT_TRUE(layer.contains(key)) << key << " in " << layer.dump(1);
    EXPECT_THAT(layer["TacticValue"].get<std::string>(), testing::StartsWith("0x"));
  }
  EXPECT_EQ(names.size(), json["Layers"].size()) << "every name once";
  EXPECT_EQ(json["Layers"][0]["Inputs"][0]["Name"], "x");
  EXPECT_EQ(json["Layers"][0]["Inputs"][0]["Dimensions"], (nlohmann::json{-1, 8}));
  EXPECT_EQ(json["Layers"][0]["Inputs"][0]["Location"], engine->getDevice() ? "Device" : "Host");
  EXPECT_EQ(json["Layers"].back()["Outputs"][0]["Format/Datatype"], "Row major linear FP32");
  EXPECT_THAT(json.dump(), HasSubstr("mine"));

  const std::unique_ptr<IExecutionContext> context(engine->createExecutionContext());
  ASSERT_TRUE(context->setInputShape("x", Dims2(3, 8)));
  ASSERT_TRUE(inspector->setExecutionContext(context.get()));
  EXPECT_EQ(engineJson()["Layers"][0]["Inputs"][0]["Dimensions"], (nlohmann::json{3, 8}));
  const auto first =
      nlohmann::json::parse(inspector->getLayerInformation(0, LayerInformationFormat::kJSON));
  EXPECT_EQ(first, engineJson()["Layers"][0]);
  EXPECT_EQ(inspector->getLayerInformation(99, LayerInformationFormat::kJSON), nullptr);
  EXPECT_THAT(client.logger.errors.back(), HasSubstr("no layer 99"));
}

TEST(Inspecting, BuildsDecideHowMuchIsTold) {
  TwoProfiles client;
  const auto names = client.build();
  const std::unique_ptr<IEngineInspector> inspector(names->createEngineInspector());
  const auto json =
      nlohmann::json::parse(inspector->getEngineInformation(LayerInformationFormat::kJSON));
  ASSERT_FALSE(json["Layers"].empty());
  for (const auto& layer : json["Layers"]) EXPECT_TRUE(layer.is_string());
  const auto layer =
      nlohmann::json::parse(inspector->getLayerInformation(0, LayerInformationFormat::kJSON));
  EXPECT_EQ(layer, json["Layers"][0]);
}

}  // namespace
}  // namespace camshaft::api
