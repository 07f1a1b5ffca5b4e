// What settings of a config mean for a build: tactics, timing caches, devices, plugins, notes.
#include <gmock/gmock.h>

#include <cmath>
#include <cstdio>
#include <optional>
#include <set>

#include "api/plugins/test_plugins.h"
#include "api/test_client.h"

namespace camshaft::api {
namespace {

using namespace nvinfer1;
using testing::ElementsAre;
using testing::HasSubstr;

// Two equal convolutions, which have several kernels on every CPU, and a softmax between them.
struct Convolutions : Client {
  Convolutions() {
    config->setBuilderOptimizationLevel(1);
    logger.keepsNotes = true;
    ITensor* x = input("x", Dims4(1, 16, 16, 16));
    ILayer* first = convolution(*x, "first");
    ISoftMaxLayer* softmax = network->addSoftMax(*first->getOutput(0));
    softmax->setName("softmax");
    output(convolution(*softmax->getOutput(0), "second")->getOutput(0), "y");
  }

 private:
  ILayer* convolution(ITensor& x, const char* name) {
    IConvolutionLayer* layer =
        network->addConvolutionNd(x, 16, DimsHW(3, 3), weightsOf(weights_), noWeights());
    layer->setPaddingNd(DimsHW(1, 1));
    layer->setName(name);
    return layer;
  }
  std::vector<float> weights_ = iota(16 * 16 * 3 * 3, -1000);
};

// The kernel of each layer, by its name.
std::map<std::string, std::string> kernelsOf(ICudaEngine& engine) {
  std::map<std::string, std::string> kernels;
  const std::unique_ptr<IEngineInspector> inspector(engine.createEngineInspector());
  for (int32_t i = 0; i < engine.getNbLayers(); ++i) {
    const std::string text = inspector->getLayerInformation(i, LayerInformationFormat::kJSON);
    const auto valueOf = [&](const std::string& key) {
      const size_t begin = text.find('"', text.find(':', text.find("\"" + key + "\""))) + 1;
      return text.substr(begin, text.find('"', begin) - begin);
    };
    kernels[valueOf("Name")] = valueOf("TacticName");
  }
  return kernels;
}

// What a build's verbose log tells of each layer: its key, and the tactics it could have.
struct LoggedLayer {
  TimingCacheKey key{};
  std::map<uint64_t, std::string> tactics;  // kernels by hash
  uint64_t selected = 0;
};

// Of several layers of one name, as passes make them of one, the one with most tactics.
std::map<std::string, LoggedLayer> layersIn(const std::vector<std::string>& notes) {
  std::map<std::string, LoggedLayer> layers;
  std::optional<LoggedLayer> current;
  std::string currentName;
  for (const std::string& line : notes) {
    char name[128], key[64], kernel[128];
    unsigned long long hash = 0;
    if (std::sscanf(line.c_str(), "Autotuning op %127[^(](key: 0x%63[^)])", name, key) == 2) {
      current.emplace();
      currentName = name;
      EXPECT_EQ(std::strlen(key), 32u);
      for (int i = 0; i < 16; ++i) std::sscanf(key + 2 * i, "%2hhx", &current->key.data[i]);
    } else if (current && std::sscanf(line.c_str(), "%*d, %*f, %*f, %*f, %127[^,], 0x%llx,", kernel,
                                      &hash) == 2) {
      current->tactics[hash] = kernel;
    } else if (const size_t at = line.find("(tactic hash, cost(in ms)):0x");
               current && at != std::string::npos) {
      std::sscanf(line.c_str() + at, "(tactic hash, cost(in ms)):0x%llx,", &hash);
      current->selected = hash;
      LoggedLayer& known = layers[currentName];
      if (current->tactics.size() > known.tactics.size()) known = *current;
      current.reset();
    }
  }
  return layers;
}

std::vector<TimingCacheKey> keysOf(const ITimingCache& cache) {
  std::vector<TimingCacheKey> keys(cache.queryKeys(nullptr, 0));
  EXPECT_EQ(cache.queryKeys(keys.data(), keys.size()), static_cast<int64_t>(keys.size()));
  return keys;
}

TEST(EditableTimingCache, EntriesDecideWhatTheNextBuildTakes) {
  Convolutions client;
  client.config->setFlag(BuilderFlag::kEDITABLE_TIMING_CACHE);
  client.config->setProfilingVerbosity(ProfilingVerbosity::kDETAILED);  // the kernels' names
  const std::unique_ptr<ITimingCache> cache(client.config->createTimingCache(nullptr, 0));
  ASSERT_TRUE(client.config->setTimingCache(*cache, false));
  const auto engine = client.build();
  ASSERT_TRUE(engine) << client.logger.errors.back();
  auto layers = layersIn(client.logger.notes);
  const auto count = TestLogger::countIn(client.logger.notes, "Autotuning op");
  EXPECT_EQ(std::ssize(keysOf(*cache)), count);
  const LoggedLayer& first = layers.at("first");
  EXPECT_EQ(first.tactics, layers.at("second").tactics) << "they are alike";
  EXPECT_NE(std::memcmp(&first.key, &layers.at("second").key, sizeof first.key), 0)
      << "each layer has an entry of its own";
  const TimingCacheValue value = cache->query(first.key);
  EXPECT_EQ(value.tacticHash, first.selected);
  EXPECT_GE(value.timingMSec, 0);
  ASSERT_GT(first.tactics.size(), 1u) << "the test needs a layer with a choice";

  const auto other = std::ranges::find_if(first.tactics, [&](const auto& each) {
    return each.second != first.tactics.at(first.selected);
  });
  ASSERT_NE(other, first.tactics.end());
  ASSERT_TRUE(cache->update(first.key, {other->first, 1.0f}));
  const auto edited = client.build();
  ASSERT_TRUE(edited) << client.logger.errors.back();
  auto expected = kernelsOf(*engine);
  for (auto& [name, kernel] : expected)  // unique names: a transpose may be "first" as well
    if (name.starts_with("first") && kernel == first.tactics.at(first.selected))
      kernel = other->second;
  EXPECT_EQ(kernelsOf(*edited), expected);

  // The same through bytes, and without the entry the layer is as it was.
  const std::unique_ptr<IHostMemory> bytes(cache->serialize());
  const std::unique_ptr<ITimingCache> copy(
      client.config->createTimingCache(bytes->data(), bytes->size()));
  EXPECT_EQ(copy->query(first.key).tacticHash, other->first);
  ASSERT_TRUE(copy->update(first.key, {0, std::nanf("")}));
  EXPECT_EQ(copy->query(first.key).tacticHash, TimingCacheValue::kINVALID_TACTIC_HASH);
  EXPECT_EQ(std::ssize(keysOf(*copy)), count - 1);
}

TEST(EditableTimingCache, WhatIsNoEntryOrNoTacticIsRefused) {
  Convolutions client;
  client.config->setFlag(BuilderFlag::kEDITABLE_TIMING_CACHE);
  const std::unique_ptr<ITimingCache> cache(client.config->createTimingCache(nullptr, 0));
  client.config->setTimingCache(*cache, false);
  EXPECT_EQ(cache->queryKeys(nullptr, 0), 0);
  EXPECT_FALSE(cache->update({}, {1, 1.0f}));
  EXPECT_THAT(client.logger.errors.back(), HasSubstr("no entry of this key"));
  ASSERT_TRUE(client.build());
  const TimingCacheKey key = keysOf(*cache)[0];
  EXPECT_FALSE(cache->update(key, {TimingCacheValue::kINVALID_TACTIC_HASH, 1.0f}));
  EXPECT_FALSE(cache->update(key, {1, -1.0f}));
  ASSERT_TRUE(cache->update(key, {1, 1.0f}));
  EXPECT_FALSE(client.build()) << "no kernel has this hash";
  EXPECT_THAT(client.logger.errors.back(), HasSubstr("timing cache chooses"));
}

TEST(TimingCacheFlags, AMissIsAnErrorWhereAsked) {
  Convolutions client;
  client.config->setProfilingVerbosity(ProfilingVerbosity::kDETAILED);  // times every layer
  client.config->setFlag(BuilderFlag::kERROR_ON_TIMING_CACHE_MISS);
  ASSERT_TRUE(client.build()) << "it is about caches of the caller's";
  const std::unique_ptr<ITimingCache> cache(client.config->createTimingCache(nullptr, 0));
  client.config->setTimingCache(*cache, false);
  EXPECT_FALSE(client.build());
  EXPECT_THAT(client.logger.errors.back(), HasSubstr("kERROR_ON_TIMING_CACHE_MISS"));
  client.config->clearFlag(BuilderFlag::kERROR_ON_TIMING_CACHE_MISS);
  ASSERT_TRUE(client.build());
  client.config->setFlag(BuilderFlag::kERROR_ON_TIMING_CACHE_MISS);
  EXPECT_TRUE(client.build()) << client.logger.errors.back();
}

TEST(TimingCacheFlags, WithoutOneEveryLayerIsTimed) {
  const auto timings = [](bool disabled) {
    Convolutions client;
    client.config->setProfilingVerbosity(ProfilingVerbosity::kDETAILED);
    if (disabled) client.config->setFlag(BuilderFlag::kDISABLE_TIMING_CACHE);
    EXPECT_TRUE(client.build());
    return TestLogger::countIn(client.logger.notes, "'second' (Conv): ");
  };
  EXPECT_EQ(timings(false), 0) << "it is like the first";
  EXPECT_GT(timings(true), 0);
}

// Takes the last algorithm of each layer, and remembers what it saw.
class Selector : public IAlgorithmSelector {
 public:
  int32_t selectAlgorithms(const IAlgorithmContext& context, const IAlgorithm* const* choices,
                           int32_t count, int32_t* selection) noexcept override {
    asked.insert(context.getName());
    if (selectsNothing) return 0;
    if (std::string(context.getName()).starts_with("first") && context.getNbInputs() == 2) {
      EXPECT_EQ(context.getNbOutputs(), 1);
      for (const auto select : {OptProfileSelector::kMIN, OptProfileSelector::kMAX})
        EXPECT_THAT(listOf(context.getDimensions(2, select)), ElementsAre(1, 16, 16, 16));
      EXPECT_EQ(context.getDimensions(3, OptProfileSelector::kOPT).nbDims, -1);
      const IAlgorithmIOInfo* info = choices[0]->getAlgorithmIOInfoByIndex(0);
      EXPECT_EQ(info->getDataType(), nvinfer1::DataType::kFLOAT);
      EXPECT_THAT(listOf(info->getStrides()), ElementsAre(16 * 16 * 16, 16 * 16, 16, 1));
      EXPECT_EQ(info->getVectorizedDim(), -1);
      EXPECT_EQ(info->getComponentsPerElement(), 1);
      EXPECT_EQ(choices[0]->getAlgorithmIOInfoByIndex(3), nullptr);
      EXPECT_GT(count, 1) << "the test needs a layer with a choice";
      ++convolutions;
    }
    wanted[context.getName()] = variantOf(*choices[count - 1]);
    selection[0] = choice >= 0 ? choice : count - 1;
    return 1;
  }
  void reportAlgorithms(const IAlgorithmContext* const* contexts, const IAlgorithm* const* choices,
                        int32_t count) noexcept override {
    ++reports;
    for (int32_t i = 0; i < count; ++i) taken[contexts[i]->getName()] = variantOf(*choices[i]);
  }

  using Variant = std::pair<int64_t, int64_t>;
  static Variant variantOf(const IAlgorithm& algorithm) {
    const IAlgorithmVariant& variant = algorithm.getAlgorithmVariant();
    return {variant.getImplementation(), variant.getTactic()};
  }
  bool selectsNothing = false;
  int32_t choice = -1;  // instead of the last
  std::set<std::string> asked;
  std::map<std::string, Variant> wanted, taken;
  int reports = 0, convolutions = 0;
};

TEST(AlgorithmSelectors, ChooseInPlaceOfTheBuild) {
  for (const int level : {0, 1}) {
    Convolutions client;
    client.config->setBuilderOptimizationLevel(level);
    Selector selector;
    client.config->setAlgorithmSelector(&selector);
    EXPECT_EQ(client.config->getAlgorithmSelector(), &selector);
    const auto engine = client.build();
    ASSERT_TRUE(engine) << client.logger.errors.back();
    EXPECT_THAT(selector.asked, testing::IsSupersetOf({"first", "second", "softmax"}));
    EXPECT_EQ(selector.reports, 1);
    EXPECT_EQ(selector.convolutions, 1);
    EXPECT_EQ(selector.taken, selector.wanted);
  }
}

TEST(AlgorithmSelectors, KnowALayerOfTwoProfilesByTwoNames) {
  Client client;
  ISoftMaxLayer* softmax = client.network->addSoftMax(*client.input("x", Dims2(-1, 8)));
  softmax->setName("softmax");
  client.output(softmax->getOutput(0), "y");
  for (const int rows : {1, 64}) {
    IOptimizationProfile* profile = client.builder->createOptimizationProfile();
    for (const auto select :
         {OptProfileSelector::kMIN, OptProfileSelector::kOPT, OptProfileSelector::kMAX})
      profile->setDimensions("x", select, Dims2(rows, 8));
    client.config->addOptimizationProfile(profile);
  }
  Selector selector;
  client.config->setAlgorithmSelector(&selector);
  ASSERT_TRUE(client.build()) << client.logger.errors.back();
  EXPECT_THAT(selector.asked, ElementsAre("softmax", "softmax_1"));
  EXPECT_EQ(selector.taken, selector.wanted);
}

TEST(AlgorithmSelectors, ThatSelectNothingLeaveTheChoiceToTheBuild) {
  Convolutions client;
  Selector selector;
  selector.selectsNothing = true;
  client.config->setAlgorithmSelector(&selector);
  ASSERT_TRUE(client.build());
  EXPECT_GE(selector.taken.size(), 3u);
  client.config->setFlag(BuilderFlag::kREJECT_EMPTY_ALGORITHMS);
  EXPECT_FALSE(client.build());
  EXPECT_THAT(client.logger.errors.back(), HasSubstr("kREJECT_EMPTY_ALGORITHMS"));
  selector.selectsNothing = false;
  selector.choice = 1000;
  EXPECT_FALSE(client.build());
  EXPECT_THAT(client.logger.errors.back(), HasSubstr("chose number 1000"));
}

TEST(BuildSettings, ThatChangeNothingAreNamedInTheLog) {
  Convolutions client;
  client.config->setBuilderOptimizationLevel(0);
  ASSERT_TRUE(client.build());
  EXPECT_EQ(TestLogger::countIn(client.logger.notes, "changes nothing"), 0);
  constexpr BuilderFlag kMeant[] = {BuilderFlag::kTF32,
                                    BuilderFlag::kFP16,
                                    BuilderFlag::kBF16,
                                    BuilderFlag::kINT8,
                                    BuilderFlag::kGPU_FALLBACK,
                                    BuilderFlag::kDISABLE_TIMING_CACHE,
                                    BuilderFlag::kOBEY_PRECISION_CONSTRAINTS,
                                    BuilderFlag::kPREFER_PRECISION_CONSTRAINTS,
                                    BuilderFlag::kREJECT_EMPTY_ALGORITHMS,
                                    BuilderFlag::kERROR_ON_TIMING_CACHE_MISS,
                                    BuilderFlag::kEDITABLE_TIMING_CACHE,
                                    BuilderFlag::kMONITOR_MEMORY,
                                    BuilderFlag::kREFIT,
                                    BuilderFlag::kREFIT_IDENTICAL,
                                    BuilderFlag::kREFIT_INDIVIDUAL,
                                    BuilderFlag::kSTRIP_PLAN,
                                    BuilderFlag::kWEIGHT_STREAMING};
  for (int32_t i = 0; i < EnumMax<BuilderFlag>(); ++i) {
    const auto flag = static_cast<BuilderFlag>(i);
    if (std::ranges::find(kMeant, flag) != std::end(kMeant)) continue;
    client.logger.notes.clear();
    client.config->setFlag(flag);
    ASSERT_TRUE(client.build()) << i;
    EXPECT_EQ(TestLogger::countIn(client.logger.notes, "changes nothing"), 1) << "flag " << i;
    client.config->clearFlag(flag);
  }
  client.logger.notes.clear();
  client.config->setFlag(BuilderFlag::kMONITOR_MEMORY);
  EXPECT_TRUE(client.config->setTilingOptimizationLevel(TilingOptimizationLevel::kFULL));
  EXPECT_TRUE(client.config->setL2LimitForTiling(1 << 20));
  EXPECT_EQ(client.config->getL2LimitForTiling(), 1 << 20);
  client.config->setPreviewFeature(PreviewFeature::kPROFILE_SHARING_0806, false);
  ASSERT_TRUE(client.build());
  EXPECT_EQ(TestLogger::countIn(client.logger.notes, "changes nothing"), 2);
  EXPECT_EQ(TestLogger::countIn(client.logger.notes, "MiB of memory"), 1);
}

TEST(BuildSettings, ThereIsNoDla) {
  Convolutions client;
  IBuilderConfig& config = *client.config;
  config.setBuilderOptimizationLevel(0);
  const ILayer* layer = client.network->getLayer(1);  // the softmax
  EXPECT_EQ(client.builder->getNbDLACores(), 0);
  EXPECT_FALSE(config.canRunOnDLA(layer));
  config.setDLACore(-1);
  EXPECT_TRUE(client.logger.warnings.empty());
  config.setDLACore(0);
  EXPECT_EQ(config.getDLACore(), -1);
  EXPECT_EQ(client.logger.warnings.size(), 1u);

  EXPECT_FALSE(config.isDeviceTypeSet(layer));
  config.setDeviceType(layer, DeviceType::kDLA);
  EXPECT_TRUE(config.isDeviceTypeSet(layer));
  EXPECT_EQ(config.getDeviceType(layer), DeviceType::kDLA);
  EXPECT_FALSE(client.build());
  EXPECT_THAT(client.logger.errors.back(), HasSubstr("layer 'softmax' is to run on DLA"));
  config.setFlag(BuilderFlag::kGPU_FALLBACK);
  EXPECT_TRUE(client.build());
  EXPECT_EQ(TestLogger::countIn(client.logger.warnings, "layer 'softmax' is to run on DLA"), 1);
  config.resetDeviceType(layer);
  EXPECT_EQ(config.getDeviceType(layer), DeviceType::kCPU);

  config.clearFlag(BuilderFlag::kGPU_FALLBACK);
  config.setDefaultDeviceType(DeviceType::kDLA);
  EXPECT_FALSE(client.build());
  config.setDeviceType(nullptr, DeviceType::kGPU);
  EXPECT_THAT(client.logger.errors.back(), HasSubstr("no layer"));
}

TEST(BuildSettings, TacticsAreBoundedInNumberAndSource) {
  Convolutions client;
  IBuilderConfig& config = *client.config;
  EXPECT_TRUE(config.setTacticSources(1u << static_cast<uint32_t>(TacticSource::kCUDNN)));
  EXPECT_EQ(config.getTacticSources(), 4u);
  EXPECT_FALSE(config.setTacticSources(1u << 31));
  EXPECT_EQ(config.getTacticSources(), 4u);
  EXPECT_EQ(config.getMaxNbTactics(), -1);
  config.setMaxNbTactics(0);
  EXPECT_THAT(client.logger.errors.back(), HasSubstr("1 or more"));
  config.setProfilingVerbosity(ProfilingVerbosity::kDETAILED);
  const auto timed = [&] {
    client.logger.notes.clear();
    EXPECT_TRUE(client.build());
    return TestLogger::countIn(client.logger.notes, "'first' (Conv): ");
  };
  EXPECT_GT(timed(), 1);
  config.setMaxNbTactics(1);
  EXPECT_EQ(timed(), 1);
}

TEST(BuildSettings, EnginesBringTheirPlugins) {
  Client client;
  IBuilderConfig& config = *client.config;
  ScalePlugin plugin({2, 0});
  ITensor* x = client.input("x", Dims2(1, 2));
  client.output(client.network->addPluginV3(&x, 1, nullptr, 0, plugin)->getOutput(0), "y");
  const char* const twice[] = {CAMSHAFT_TEST_PLUGINS, CAMSHAFT_TEST_PLUGINS};
  config.setPluginsToSerialize(twice, 2);
  EXPECT_THAT(client.logger.errors.back(), HasSubstr("twice"));
  EXPECT_EQ(config.getNbPluginsToSerialize(), 0);
  const char* const missing[] = {"/no/such/library.so"};
  config.setPluginsToSerialize(missing, 1);
  EXPECT_FALSE(client.build());
  EXPECT_THAT(client.logger.errors.back(), HasSubstr("/no/such/library.so"));
  config.setPluginsToSerialize(twice, 1);
  EXPECT_STREQ(config.getPluginToSerialize(0), CAMSHAFT_TEST_PLUGINS);
  EXPECT_EQ(config.getPluginToSerialize(1), nullptr);

  EXPECT_FALSE(client.build());
  EXPECT_THAT(client.logger.errors.back(), HasSubstr("setEngineHostCodeAllowed(true)"));
  client.runtime->setEngineHostCodeAllowed(true);
  const std::vector<float> data{1, 2};
  // In memory, and as a temporary file; several engines at once, whose runtimes may be gone.
  std::vector<std::unique_ptr<ICudaEngine>> engines;
  for (const auto flag :
       {TempfileControlFlag::kALLOW_IN_MEMORY_FILES, TempfileControlFlag::kALLOW_TEMPORARY_FILES}) {
    client.runtime->setTempfileControlFlags(1u << static_cast<uint32_t>(flag));
    engines.push_back(client.build());
    ASSERT_TRUE(engines.back()) << client.logger.errors.back();
  }
  client.runtime->setTempfileControlFlags(0);
  EXPECT_FALSE(client.build());
  EXPECT_THAT(client.logger.errors.back(), HasSubstr("setTempfileControlFlags"));
  client.runtime.reset();
  for (const auto& engine : engines)
    EXPECT_THAT(client.runEngine(*engine, {{"x", Dims2(1, 2), data.data()}}), ElementsAre(2, 4));
}

// Built for a GPU that need not be here.
TEST(HardwareCompatibility, EnginesForAmpereAndLaterHoldPtx) {
  Convolutions client;
  IBuilderConfig& config = *client.config;
  config.setDefaultDeviceType(DeviceType::kGPU);
  config.setComputeCapability(90);
  const auto built = [&](HardwareCompatibilityLevel level) {
    config.setHardwareCompatibilityLevel(level);
    EXPECT_EQ(config.getHardwareCompatibilityLevel(), level);
    const std::unique_ptr<IHostMemory> file(
        client.builder->buildSerializedNetwork(*client.network, config));
    return file ? std::string(static_cast<const char*>(file->data()), file->size()) : "";
  };
  const std::string usual = built(HardwareCompatibilityLevel::kNONE);
  if (usual.empty()) GTEST_SKIP() << client.logger.errors.back();
  constexpr char kPtx[] = ".target sm_80";
  EXPECT_EQ(usual.find(kPtx), std::string::npos);
  EXPECT_NE(built(HardwareCompatibilityLevel::kAMPERE_PLUS).find(kPtx), std::string::npos);
  EXPECT_EQ(built(HardwareCompatibilityLevel::kSAME_COMPUTE_CAPABILITY).find(kPtx),
            std::string::npos);
  config.setComputeCapability(75);
  EXPECT_EQ(built(HardwareCompatibilityLevel::kAMPERE_PLUS), "");
  EXPECT_THAT(client.logger.errors.back(), HasSubstr("cannot be built on one of 7.5"));
}

TEST(ComputeCapability, EnginesForOtherMachinesAreInspectedAndNotRun) {
  Convolutions client;
  client.config->setDefaultDeviceType(DeviceType::kGPU);
  client.config->setComputeCapability(90);
  client.config->setProfilingVerbosity(ProfilingVerbosity::kDETAILED);
  const std::unique_ptr<IHostMemory> file(
      client.builder->buildSerializedNetwork(*client.network, *client.config));
  if (!file) GTEST_SKIP() << client.logger.errors.back();
  client.runtime->setInspectionOnly(true);
  EXPECT_TRUE(client.runtime->getInspectionOnly());
  const std::unique_ptr<ICudaEngine> engine(
      client.runtime->deserializeCudaEngine(file->data(), file->size()));
  ASSERT_TRUE(engine);
  EXPECT_EQ(engine->getTensorLocation(engine->getIOTensorName(0)), TensorLocation::kDEVICE);
  EXPECT_EQ(engine->getDevice(), nullptr);
  const std::unique_ptr<IEngineInspector> inspector(engine->createEngineInspector());
  EXPECT_THAT(inspector->getEngineInformation(LayerInformationFormat::kJSON), HasSubstr("cuda/"));
  const std::unique_ptr<IHostMemory> again(engine->serialize());
  ASSERT_TRUE(again);
  EXPECT_EQ(again->size(), file->size());
  EXPECT_FALSE(engine->createExecutionContext());
  EXPECT_THAT(client.logger.errors.back(), HasSubstr("was loaded to be inspected"));
}

TEST(ComputeCapability, OneThatTheCompilerDoesNotKnowIsRefused) {
  Convolutions client;
  client.config->setDefaultDeviceType(DeviceType::kGPU);
  client.config->setComputeCapability(99);
  const std::unique_ptr<IHostMemory> file(
      client.builder->buildSerializedNetwork(*client.network, *client.config));
  ASSERT_FALSE(file);
  if (TestLogger::countIn(client.logger.errors, "NVRTC ") == 0)
    GTEST_SKIP() << client.logger.errors.back();
  EXPECT_THAT(client.logger.errors.back(), HasSubstr(", and not for 99"));
}

}  // namespace
}  // namespace camshaft::api
