// A compiler of PyTorch modules and its runtime: the calls of torch-tensorrt, in its order. Also
// run on the emulated GPU.
#include <gmock/gmock.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "api/test_client.h"

namespace camshaft::api {
namespace {

using namespace nvinfer1;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::UnorderedElementsAre;
using Floats = std::vector<float>;
using Strategy = ExecutionContextAllocationStrategy;

constexpr int64_t kWidth = 4;

// output_0 = tanh(input_0 weight + bias), and output_1 = where it is positive, where asked for.
struct Module : Client {
  Floats weight, bias{-0.5f, 0, 0.25f, 0.5f}, zero{0};
  explicit Module(bool hasPlaces = false, uint32_t flags = 0) {
    network.reset(builder->createNetworkV2(flags));
    for (int i = 0; i < kWidth * kWidth; ++i)
      weight.push_back(static_cast<float>(i % 5) * 0.25f - 0.5f);
    ITensor* x = network->addInput("input_0", DataType::kFLOAT, Dims2(-1, kWidth));
    x->setAllowedFormats(1u << static_cast<uint32_t>(TensorFormat::kLINEAR));
    auto* w = network->addConstant(Dims2(kWidth, kWidth), weightsOf(weight));
    auto* b = network->addConstant(Dims2(1, kWidth), weightsOf(bias));
    network->setWeightsName(weightsOf(weight), "linear.weight");
    network->setWeightsName(weightsOf(bias), "linear.bias");
    auto* product = network->addMatrixMultiply(*x, MatrixOperation::kNONE, *w->getOutput(0),
                                               MatrixOperation::kNONE);
    product->setName("[MATRIX_MULTIPLY]-[aten_ops.addmm]-[linear]");
    product->setMetadata("linear");
    auto* sum = network->addElementWise(*product->getOutput(0), *b->getOutput(0),
                                        ElementWiseOperation::kSUM);
    auto* tanh = network->addActivation(*sum->getOutput(0), ActivationType::kTANH);
    output(tanh->getOutput(0), "output_0");
    if (hasPlaces) {
      ITensor* none = network->addConstant(Dims2(1, 1), weightsOf(zero))->getOutput(0);
      auto* isPositive =
          network->addElementWise(*tanh->getOutput(0), *none, ElementWiseOperation::kGREATER);
      output(network->addNonZero(*isPositive->getOutput(0), DataType::kINT64)->getOutput(0),
             "output_1");
    }
    config->clearFlag(BuilderFlag::kTF32);
    config->setFlag(BuilderFlag::kREFIT);
    config->setAvgTimingIterations(1);
    config->setMemoryPoolLimit(MemoryPoolType::kWORKSPACE, 1 << 20);
    config->setEngineCapability(EngineCapability::kSTANDARD);
    config->setProfilingVerbosity(ProfilingVerbosity::kDETAILED);
    for (const auto& [least, most] : {std::pair(1, 4), std::pair(8, 32)}) {
      auto* profile = builder->createOptimizationProfile();
      profile->setDimensions("input_0", OptProfileSelector::kMIN, Dims2(least, kWidth));
      profile->setDimensions("input_0", OptProfileSelector::kOPT, Dims2(most, kWidth));
      profile->setDimensions("input_0", OptProfileSelector::kMAX, Dims2(most, kWidth));
      EXPECT_GE(config->addOptimizationProfile(profile), 0);
    }
  }
  std::unique_ptr<ICudaEngine> buildEngine() {
    return std::unique_ptr<ICudaEngine>(builder->buildEngineWithConfig(*network, *config));
  }
  Floats expected(const Floats& x) const {
    Floats y;
    for (size_t row = 0; row * kWidth < x.size(); ++row)
      for (size_t column = 0; column < kWidth; ++column) {
        float sum = bias[column];
        for (size_t k = 0; k < kWidth; ++k)
          sum += x[row * kWidth + k] * weight[k * kWidth + column];
        y.push_back(std::tanh(sum));
      }
    return y;
  }
};

Floats inputOf(int64_t rows) {
  Floats x;
  for (int64_t i = 0; i < rows * kWidth; ++i)
    x.push_back(static_cast<float>(i * 7 % 11) * 0.25f - 1.f);
  return x;
}

void expectNear(const Floats& got, const Floats& want) {
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], want[i], 1e-5) << i;
}

// One object for all outputs, which keeps a buffer of each.
class OutputAllocator : public IOutputAllocator {
 public:
  explicit OutputAllocator(const ICudaEngine& engine) : engine_(engine) {}
  void* reallocateOutputAsync(const char* name, void*, uint64_t size, uint64_t,
                              cudaStream_t) override {
    buffers[name] = TestMemory(engine_, nullptr, static_cast<int64_t>(size));
    return buffers[name].data();
  }
  void notifyShape(const char* name, const Dims& dims) noexcept override { shapes[name] = dims; }
  template <class T>
  std::vector<T> read(const std::string& name) {
    std::vector<T> values = buffers.at(name).template read<T>();
    values.resize(static_cast<size_t>(countOf(shapes.at(name))));
    return values;
  }
  std::map<std::string, TestMemory> buffers;
  std::map<std::string, Dims> shapes;

 private:
  const ICudaEngine& engine_;
};

// The runtime: names found once, a profile chosen for each run, outputs made for each.
class Runtime {
 public:
  Runtime(ICudaEngine& engine, Strategy strategy) : engine_(engine), strategy_(strategy) {
    for (int32_t i = 0; i < engine.getNbIOTensors(); ++i) {
      const char* name = engine.getIOTensorName(i);
      (engine.getTensorIOMode(name) == TensorIOMode::kINPUT ? inputs : outputs).push_back(name);
    }
    for (const std::string& name : outputs) {
      EXPECT_EQ(engine.getAliasedInputTensor(name.c_str()), nullptr);
      EXPECT_FALSE(engine.isShapeInferenceIO(name.c_str()));
    }
    makeContext();
  }
  void makeContext() {
    const std::unique_ptr<IRuntimeConfig> config(engine_.createRuntimeConfig());
    config->setExecutionContextAllocationStrategy(strategy_);
    context.reset(engine_.createExecutionContext(config.get()));
    ASSERT_TRUE(context);
  }

  // Prepares the input; false where no profile takes it.
  bool bind(const Floats& x) {
    const auto rows = static_cast<int64_t>(x.size()) / kWidth;
    if (!selectProfile(rows)) return false;
    if (strategy_ == Strategy::kUSER_MANAGED) {
      const int64_t bytes = engine_.getDeviceMemorySizeV2();
      workspace_ = TestMemory(engine_, nullptr, bytes);
      context->setDeviceMemoryV2(workspace_.data(), bytes);
    }
    x_ = TestMemory(engine_, x.data(), static_cast<int64_t>(x.size()) * 4);
    EXPECT_TRUE(context->setInputShape("input_0", Dims2(rows, kWidth)));
    EXPECT_TRUE(context->setTensorAddress("input_0", x_.data()));
    std::vector<const char*> missing(static_cast<size_t>(engine_.getNbIOTensors()));
    EXPECT_EQ(context->inferShapes(static_cast<int32_t>(missing.size()), missing.data()), 0);
    return true;
  }
  Floats run(const Floats& x) {
    if (!bind(x)) return {};
    const Dims shape = context->getTensorShape("output_0");
    EXPECT_EQ(context->getEngine().getTensorDataType("output_0"), DataType::kFLOAT);
    TestMemory y(engine_, nullptr, countOf(shape) * 4);
    EXPECT_TRUE(context->setTensorAddress("output_0", y.data()));
    EXPECT_TRUE(context->enqueueV3(nullptr));
    return y.read<float>();
  }

  std::vector<std::string> inputs, outputs;
  std::unique_ptr<IExecutionContext> context;

 private:
  bool selectProfile(int64_t rows) {
    for (int32_t i = 0; i < engine_.getNbOptimizationProfiles(); ++i) {
      const Dims min = engine_.getProfileShape("input_0", i, OptProfileSelector::kMIN),
                 max = engine_.getProfileShape("input_0", i, OptProfileSelector::kMAX);
      if (rows < min.d[0] || rows > max.d[0]) continue;
      return context->getOptimizationProfile() == i ||
             context->setOptimizationProfileAsync(i, nullptr);
    }
    return false;
  }

  ICudaEngine& engine_;
  Strategy strategy_;
  TestMemory x_, workspace_;
};

TEST(TorchTensorRtCalls, RunModulesInTheProfileThatFits) {
  Module module;
  const auto engine = module.buildEngine();
  ASSERT_TRUE(engine) << module.logger.errors.back();
  for (const Strategy strategy : {Strategy::kSTATIC, Strategy::kUSER_MANAGED}) {
    Runtime runtime(*engine, strategy);
    EXPECT_THAT(runtime.inputs, ElementsAre("input_0"));
    EXPECT_THAT(runtime.outputs, ElementsAre("output_0"));
    for (const int64_t rows : {1, 3, 32, 8, 4}) {
      const Floats x = inputOf(rows);
      expectNear(runtime.run(x), module.expected(x));
    }
    EXPECT_TRUE(runtime.run(inputOf(5)).empty()) << "no profile takes 5 rows";
  }
  EXPECT_TRUE(module.logger.errors.empty()) << module.logger.errors.back();
}

TEST(TorchTensorRtCalls, OutputsOfAnySizeComeFromOneAllocator) {
  Module module(true);
  const auto engine = module.buildEngine();
  ASSERT_TRUE(engine) << module.logger.errors.back();
  Runtime runtime(*engine, Strategy::kSTATIC);
  OutputAllocator allocator(*engine);
  for (const int64_t rows : {2, 16, 1}) {
    const Floats x = inputOf(rows);
    ASSERT_TRUE(runtime.bind(x));
    for (const std::string& name : runtime.outputs)
      ASSERT_TRUE(runtime.context->setOutputAllocator(name.c_str(), &allocator));
    ASSERT_TRUE(runtime.context->enqueueV3(nullptr)) << module.logger.errors.back();
    const Floats expected = module.expected(x);
    expectNear(allocator.read<float>("output_0"), expected);
    std::vector<int64_t> places;
    for (const bool isRow : {true, false})
      for (size_t i = 0; i < expected.size(); ++i)
        if (expected[i] > 0)
          places.push_back(static_cast<int64_t>(isRow ? i / kWidth : i % kWidth));
    EXPECT_EQ(allocator.read<int64_t>("output_1"), places);
  }
}

std::unique_ptr<ICudaEngine> loaded(Module& module, const IHostMemory& plan) {
  return std::unique_ptr<ICudaEngine>(
      module.runtime->deserializeCudaEngine(plan.data(), plan.size()));
}

TEST(TorchTensorRtCalls, EnginesAreKeptWithoutWeightsAndRefitted) {
  Module module;
  const auto engine = module.buildEngine();
  ASSERT_TRUE(engine) << module.logger.errors.back();
  const std::unique_ptr<IHostMemory> whole(engine->serialize());
  const std::unique_ptr<ISerializationConfig> config(engine->createSerializationConfig());
  EXPECT_TRUE(config->setFlag(SerializationFlag::kEXCLUDE_WEIGHTS));
  const std::unique_ptr<IHostMemory> stripped(engine->serializeWithConfig(*config));
  ASSERT_TRUE(whole && stripped) << module.logger.errors.back();
  EXPECT_LT(stripped->size(), whole->size());
  const Floats x = inputOf(3);

  const auto again = loaded(module, *stripped);
  ASSERT_TRUE(again) << module.logger.errors.back();
  const std::unique_ptr<IRefitter> refitter(createInferRefitter(*again, module.logger));
  std::vector<const char*> names(static_cast<size_t>(refitter->getAllWeights(0, nullptr)));
  refitter->getAllWeights(static_cast<int32_t>(names.size()), names.data());
  EXPECT_THAT((std::vector<std::string>(names.begin(), names.end())),
              UnorderedElementsAre("linear.weight", "linear.bias"));
  module.weight.assign(module.weight.size(), 0.125f);
  ASSERT_TRUE(refitter->setNamedWeights("linear.weight", weightsOf(module.weight)));
  ASSERT_TRUE(
      refitter->setNamedWeights("linear.bias", weightsOf(module.bias), TensorLocation::kHOST));
  EXPECT_EQ(refitter->getMissingWeights(0, nullptr), 0);
  ASSERT_TRUE(refitter->refitCudaEngine()) << module.logger.errors.back();
  expectNear(Runtime(*again, Strategy::kSTATIC).run(x), module.expected(x));

  // A plan with weights may be refitted again, or no more.
  for (const bool includesRefit : {true, false}) {
    const std::unique_ptr<ISerializationConfig> kept(again->createSerializationConfig());
    EXPECT_TRUE(kept->clearFlag(SerializationFlag::kEXCLUDE_WEIGHTS));
    EXPECT_TRUE(includesRefit ? kept->setFlag(SerializationFlag::kINCLUDE_REFIT)
                              : kept->clearFlag(SerializationFlag::kINCLUDE_REFIT));
    const std::unique_ptr<IHostMemory> plan(again->serializeWithConfig(*kept));
    ASSERT_TRUE(plan) << module.logger.errors.back();
    const auto last = loaded(module, *plan);
    ASSERT_TRUE(last) << module.logger.errors.back();
    EXPECT_EQ(last->isRefittable(), includesRefit);
    expectNear(Runtime(*last, Strategy::kSTATIC).run(x), module.expected(x));
  }
}

TEST(TorchTensorRtCalls, BudgetsOfStreamedWeightsChangeBetweenContexts) {
  Module module(false, 1u << static_cast<uint32_t>(NetworkDefinitionCreationFlag::kSTRONGLY_TYPED));
  module.config->setFlag(BuilderFlag::kWEIGHT_STREAMING);
  const auto engine = module.buildEngine();
  ASSERT_TRUE(engine) << module.logger.errors.back();
  const int64_t all = engine->getStreamableWeightsSize();
  ASSERT_GT(all, 0);
  ASSERT_TRUE(engine->setWeightStreamingBudgetV2(engine->getWeightStreamingAutomaticBudget()));
  Runtime runtime(*engine, Strategy::kSTATIC);
  const Floats x = inputOf(2);
  for (const int64_t budget : {all, all / 2, int64_t{0}}) {
    runtime.context.reset();
    ASSERT_TRUE(engine->setWeightStreamingBudgetV2(budget)) << module.logger.errors.back();
    EXPECT_EQ(engine->getWeightStreamingBudgetV2(), budget);
    runtime.makeContext();
    expectNear(runtime.run(x), module.expected(x));
  }
}

class LayerTimes : public IProfiler {
 public:
  void reportLayerTime(const char* layer, float milliseconds) noexcept override {
    times[layer] += milliseconds;
  }
  std::map<std::string, float> times;
};

TEST(TorchTensorRtCalls, LayersAreProfiledAndInspectedByTheirNames) {
  Module module;
  const auto engine = module.buildEngine();
  ASSERT_TRUE(engine) << module.logger.errors.back();
  Runtime runtime(*engine, Strategy::kSTATIC);
  LayerTimes profiler;
  runtime.context->setProfiler(&profiler);
  EXPECT_EQ(runtime.context->getProfiler(), &profiler);
  runtime.run(inputOf(4));
  EXPECT_FALSE(profiler.times.empty());
  const std::unique_ptr<IEngineInspector> inspector(engine->createEngineInspector());
  const auto json =
      nlohmann::json::parse(inspector->getEngineInformation(LayerInformationFormat::kJSON));
  std::map<std::string, std::string> metadata;
  for (const auto& layer : json["Layers"]) metadata[layer["Name"]] = layer["Metadata"];
  for (const auto& [name, time] : profiler.times)
    EXPECT_TRUE(metadata.contains(name)) << name << " in " << json.dump(1);
  EXPECT_THAT(json.dump(), HasSubstr("aten_ops.addmm"));
}

// A cache that belongs to the caller: output and input are one memory.
TEST(TorchTensorRtCalls, CachesAreUpdatedInPlace) {
  Client client;
  const Dims4 shape(1, 1, 4, 2);
  ITensor* cache = client.input("cache", shape);
  ITensor* update = client.input("update", Dims4(1, 1, 1, 2));
  ITensor* begin = client.input("begin", {1, {1}}, DataType::kINT32);
  auto* layer = client.network->addKVCacheUpdate(*cache, *update, *begin, KVCacheMode::kLINEAR);
  auto* sum = client.network->addReduce(*layer->getOutput(0), ReduceOperation::kSUM, 15, false);
  client.output(layer->getOutput(0), "cache_out");
  client.output(sum->getOutput(0), "sum");
  const auto engine = client.build();
  ASSERT_TRUE(engine) << client.logger.errors.back();
  EXPECT_STREQ(engine->getAliasedInputTensor("cache_out"), "cache");
  EXPECT_EQ(engine->getAliasedInputTensor("sum"), nullptr);
  EXPECT_EQ(engine->getAliasedInputTensor("cache"), nullptr);

  const std::unique_ptr<IExecutionContext> context(engine->createExecutionContext());
  const Floats zeros(8);
  TestMemory kept(*engine, zeros.data(), 32), total(*engine, nullptr, 4);
  context->setTensorAddress("cache", kept.data());
  context->setTensorAddress("cache_out", kept.data());
  context->setTensorAddress("sum", total.data());
  for (int32_t step = 0; step < 3; ++step) {
    const Floats row{1.f + static_cast<float>(step), 10.f};
    TestMemory rows(*engine, row.data(), 8), at(*engine, &step, 4);
    context->setTensorAddress("update", rows.data());
    context->setTensorAddress("begin", at.data());
    ASSERT_TRUE(context->enqueueV3(nullptr)) << client.logger.errors.back();
    kept.read<float>();  // the run has ended
  }
  EXPECT_THAT(kept.read<float>(), ElementsAre(1, 10, 2, 10, 3, 10, 0, 0));
  EXPECT_THAT(total.read<float>(), ElementsAre(36));
}

}  // namespace
}  // namespace camshaft::api
