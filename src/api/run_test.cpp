// Building and running through the public API: progress, caches, profilers, allocators, threads.
#include <gmock/gmock.h>

#include <atomic>
#include <nlohmann/json.hpp>
#include <thread>

#include "api/test_client.h"
#include "testing/task_queue.h"

namespace camshaft::api {
namespace {

using namespace nvinfer1;
using testing::ElementsAre;

// y = softmax(relu(x W)) for x [batch, 16].
void describeModel(Client& client) {
  ITensor* x = client.input("x", Dims2(-1, 16));
  std::vector<float> weights(16 * 8);
  for (size_t i = 0; i < weights.size(); ++i) weights[i] = static_cast<float>(i % 7) * 0.1f - 0.3f;
  ITensor* w = client.network->addConstant(Dims2(16, 8), weightsOf(weights))->getOutput(0);
  auto* product =
      client.network->addMatrixMultiply(*x, MatrixOperation::kNONE, *w, MatrixOperation::kNONE);
  product->setName("dense");
  auto* relu = client.network->addActivation(*product->getOutput(0), ActivationType::kRELU);
  auto* softmax = client.network->addSoftMax(*relu->getOutput(0));
  softmax->setAxes(2);
  client.output(softmax->getOutput(0), "y");
  auto* profile = client.builder->createOptimizationProfile();
  profile->setDimensions("x", OptProfileSelector::kMIN, Dims2(1, 16));
  profile->setDimensions("x", OptProfileSelector::kOPT, Dims2(4, 16));
  profile->setDimensions("x", OptProfileSelector::kMAX, Dims2(8, 16));
  client.config->addOptimizationProfile(profile);
}

class Monitor : public IProgressMonitor {
 public:
  explicit Monitor(int allowed) : allowed_(allowed) {}
  void phaseStart(const char* name, const char* parent, int32_t count) noexcept override {
    EXPECT_EQ(std::string(parent ? parent : ""), open.empty() ? "" : open.back());
    EXPECT_GT(count, 0);
    EXPECT_TRUE(counts.emplace(name, count).second) << name << " began twice";
    open.push_back(name);
  }
  bool stepComplete(const char* name, int32_t step) noexcept override {
    EXPECT_EQ(open.back(), name);
    EXPECT_EQ(step, done[name]++) << "in " << name;
    return ++steps <= allowed_;
  }
  void phaseFinish(const char* name) noexcept override {
    EXPECT_EQ(open.back(), name);
    open.pop_back();
  }
  std::vector<std::string> open;
  std::map<std::string, int> counts, done;  // steps of each phase, as announced and as completed
  int steps = 0;

 private:
  int allowed_;
};

TEST(Building, ReportsProgressAndCanBeStopped) {
  Client client;
  describeModel(client);
  Monitor patient(1 << 20);
  client.config->setProgressMonitor(&patient);
  EXPECT_TRUE(client.build());
  EXPECT_GT(patient.steps, 2);
  EXPECT_TRUE(patient.open.empty());
  EXPECT_EQ(patient.done, patient.counts) << "each phase completes each of its steps once";
  for (int allowed = 0; allowed < patient.steps; ++allowed) {
    Monitor impatient(allowed);
    client.config->setProgressMonitor(&impatient);
    EXPECT_FALSE(client.build());
    EXPECT_EQ(impatient.steps, allowed + 1) << "a build goes on after it was stopped";
    EXPECT_TRUE(impatient.open.empty()) << "every phase that started was finished";
  }
  EXPECT_THAT(client.logger.errors.back(), testing::HasSubstr("cancelled"));
}

TEST(Building, TimingCacheGoesRoundTrip) {
  Client client;
  describeModel(client);
  client.config->setBuilderOptimizationLevel(3);
  // Times every layer, also those with one candidate, as all of them have on some CPUs.
  client.config->setProfilingVerbosity(ProfilingVerbosity::kDETAILED);
  const std::unique_ptr<ITimingCache> cache(client.config->createTimingCache(nullptr, 0));
  ASSERT_TRUE(cache);
  ASSERT_TRUE(client.config->setTimingCache(*cache, false));
  EXPECT_EQ(client.config->getTimingCache(), cache.get());
  ASSERT_TRUE(client.build());
  const std::unique_ptr<IHostMemory> bytes(cache->serialize());
  ASSERT_TRUE(bytes);
  const std::unique_ptr<ITimingCache> empty(client.config->createTimingCache(nullptr, 0));
  const std::unique_ptr<IHostMemory> emptyBytes(empty->serialize());
  EXPECT_GT(bytes->size(), emptyBytes->size()) << "the build measured something";
  const std::unique_ptr<ITimingCache> again(
      client.config->createTimingCache(bytes->data(), bytes->size()));
  ASSERT_TRUE(again);
  const std::unique_ptr<IHostMemory> bytesAgain(again->serialize());
  ASSERT_EQ(bytes->size(), bytesAgain->size());
  EXPECT_EQ(std::memcmp(bytes->data(), bytesAgain->data(), bytes->size()), 0);
  EXPECT_TRUE(empty->combine(*again, false));
  EXPECT_FALSE(client.config->createTimingCache("damaged bytes", 13));
}

class Profiler : public IProfiler {
 public:
  void reportLayerTime(const char* layer, float ms) noexcept override {
    layers.push_back(layer);
    EXPECT_GE(ms, 0);
  }
  std::vector<std::string> layers;
};

TEST(Running, ProfilerAndOutputAllocator) {
  Client client;
  describeModel(client);
  const auto engine = client.build();
  ASSERT_TRUE(engine);
  const std::unique_ptr<IExecutionContext> context(engine->createExecutionContext());
  Profiler profiler;
  TestAllocator allocator;
  context->setProfiler(&profiler);
  const std::vector<float> x(3 * 16, 1.f);
  ASSERT_TRUE(context->setInputShape("x", Dims2(3, 16)));
  ASSERT_TRUE(context->setInputTensorAddress("x", x.data()));
  ASSERT_TRUE(context->setOutputAllocator("y", &allocator));
  ASSERT_TRUE(context->enqueueV3(nullptr));
  EXPECT_EQ(allocator.tensor, "y");
  EXPECT_THAT(listOf(allocator.shape), ElementsAre(3, 8));
  EXPECT_GE(allocator.memory.size(), 3 * 8 * sizeof(float));
  EXPECT_EQ(static_cast<int32_t>(profiler.layers.size()), engine->getNbLayers());
  context->setEnqueueEmitsProfile(false);
  profiler.layers.clear();
  ASSERT_TRUE(context->enqueueV3(nullptr));
  EXPECT_TRUE(profiler.layers.empty());
  EXPECT_TRUE(context->reportToProfiler());
  EXPECT_FALSE(profiler.layers.empty());
}

TEST(Running, AFailedRunLeavesTheContextAsItWas) {
  Client client;
  describeModel(client);
  const auto engine = client.build();
  ASSERT_TRUE(engine);
  const std::unique_ptr<IExecutionContext> context(engine->createExecutionContext());
  const std::vector<float> x(2 * 16, 1.f), other(2 * 16, -1.f);
  std::vector<float> y(2 * 8), expected(2 * 8), otherY(2 * 8);
  ASSERT_TRUE(context->setInputShape("x", Dims2(2, 16)));
  ASSERT_TRUE(context->setInputTensorAddress("x", x.data()));
  ASSERT_TRUE(context->setTensorAddress("y", expected.data()));
  ASSERT_TRUE(context->enqueueV3(nullptr));
  ASSERT_TRUE(context->setTensorAddress("y", y.data()));

  class Stingy : public TestAllocator {
    void* reallocateOutput(const char*, void*, uint64_t, uint64_t) noexcept override {
      return nullptr;
    }
  } stingy;
  Profiler profiler;
  context->setProfiler(&profiler);
  context->setEnqueueEmitsProfile(false);
  ASSERT_TRUE(context->setOutputAllocator("y", &stingy));
  EXPECT_FALSE(context->enqueueV3(nullptr));
  EXPECT_FALSE(context->reportToProfiler()) << "a failed run has no times";
  void* bindings[] = {const_cast<float*>(other.data()), otherY.data()};
  EXPECT_FALSE(context->executeV2(bindings));
  EXPECT_EQ(context->getTensorAddress("x"), x.data());
  EXPECT_EQ(context->getTensorAddress("y"), y.data());

  ASSERT_TRUE(context->setOutputAllocator("y", nullptr));
  ASSERT_TRUE(context->executeV2(bindings));
  EXPECT_NE(otherY, expected);
  ASSERT_TRUE(context->enqueueV3(nullptr));
  EXPECT_EQ(y, expected);
}

TEST(Running, InspectorSpeaksJson) {
  Client client;
  describeModel(client);
  client.config->setProfilingVerbosity(ProfilingVerbosity::kDETAILED);
  const auto engine = client.build();
  ASSERT_TRUE(engine);
  const std::unique_ptr<IEngineInspector> inspector(engine->createEngineInspector());
  const auto json =
      nlohmann::json::parse(inspector->getEngineInformation(LayerInformationFormat::kJSON));
  ASSERT_TRUE(json.contains("Layers")) << json.dump(1);
  EXPECT_EQ(static_cast<int32_t>(json["Layers"].size()), engine->getNbLayers());
  EXPECT_NE(json.dump().find("dense"), std::string::npos);
  EXPECT_FALSE(
      std::string(inspector->getLayerInformation(0, LayerInformationFormat::kONELINE)).empty());
}

TEST(Running, ContextsInTwoThreadsAgree) {
  Client client;
  describeModel(client);
  const auto engine = client.build();
  ASSERT_TRUE(engine);
  const std::vector<float> x = iota(8 * 16, -60);
  const auto expected = client.runEngine(*engine, {{"x", Dims2(8, 16), x.data()}});
  std::vector<float> results[2];
  const auto work = [&](int which) {
    const std::unique_ptr<IExecutionContext> context(engine->createExecutionContext());
    results[which].resize(8 * 8);
    context->setInputShape("x", Dims2(8, 16));
    context->setInputTensorAddress("x", x.data());
    context->setTensorAddress("y", results[which].data());
    for (int i = 0; i < 50; ++i) ASSERT_TRUE(context->enqueueV3(nullptr));
  };
  std::thread first(work, 0), second(work, 1);
  first.join();
  second.join();
  EXPECT_EQ(results[0], expected);
  EXPECT_EQ(results[1], expected);
}

class ApplicationThreads : public IThreadPool {
 public:
  bool schedule(Task task, void* argument) noexcept override {
    ++scheduled;
    queue_.add(task, argument);
    return true;
  }
  std::atomic<int> scheduled{0};

 private:
  TaskQueue queue_{2};
};

TEST(Running, LoopsGoToTheThreadsOfTheApplication) {
  Client client;
  client.output(client.network->addUnary(*client.input("x", Dims2(512, 1024)), UnaryOperation::kEXP)
                    ->getOutput(0),
                "y");
  const std::unique_ptr<IHostMemory> file(
      client.builder->buildSerializedNetwork(*client.network, *client.config));
  ASSERT_TRUE(file);
  const std::vector<float> x(512 * 1024, 0.25f);
  std::vector<float> results[2];
  ApplicationThreads threads;
  for (auto& result : results) {
    const std::unique_ptr<ICudaEngine> engine(
        client.runtime->deserializeCudaEngine(file->data(), file->size()));
    ASSERT_TRUE(engine);
    for (int run = 0; run < 20; ++run)
      result = client.runEngine(*engine, {{"x", Dims2(512, 1024), x.data()}});
    EXPECT_EQ(client.runtime->getThreadPool(), &result == results ? nullptr : &threads);
    client.runtime->setMaxThreads(3);
    client.runtime->setThreadPool(&threads);
  }
  if (testDevice == DeviceType::kCPU) {
    EXPECT_GT(threads.scheduled, 0);
  }
  EXPECT_EQ(results[0], results[1]);
}

TEST(Running, MistakesAreReported) {
  Client client;
  describeModel(client);
  const auto engine = client.build();
  ASSERT_TRUE(engine);
  const std::unique_ptr<IExecutionContext> context(engine->createExecutionContext());
  TestRecorder recorder;
  context->setErrorRecorder(&recorder);
  EXPECT_FALSE(context->setInputShape("x", Dims2(9, 16)));
  EXPECT_FALSE(context->setInputShape("nothing", Dims2(1, 16)));
  EXPECT_FALSE(context->enqueueV3(nullptr));
  EXPECT_EQ(recorder.getNbErrors(), 3);
  EXPECT_EQ(engine->getTensorShape("nothing").nbDims, -1);
  context->setErrorRecorder(nullptr);
  EXPECT_EQ(recorder.references, 0);
  client.logger.errors.clear();
  const char junk[64] = "this is no engine file";
  EXPECT_FALSE(client.runtime->deserializeCudaEngine(junk, sizeof(junk)));
  EXPECT_EQ(client.logger.errors.size(), 1u);
}

}  // namespace
}  // namespace camshaft::api
