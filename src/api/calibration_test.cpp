// 8-bit integers through the public API: calibrators, caches, ranges and types set on layers.
#include <gmock/gmock.h>

#include <cmath>
#include <random>

#include "api/test_client.h"

namespace camshaft::api {
namespace {

using namespace nvinfer1;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

std::vector<float> randomNumbers(int64_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::vector<float> numbers(static_cast<size_t>(count));
  for (float& number : numbers) number = normal(random);
  return numbers;
}

const Dims kShape = Dims4(1, 4, 8, 8);
constexpr int64_t kElements = 4 * 8 * 8;

// y = conv(maxpool(r) + r'), r = relu(conv(x)), all of four channels: what stays in bytes.
struct ConvClient : Client {
  std::vector<float> first = randomNumbers(4 * 4 * 9, 1), second = randomNumbers(4 * 4 * 9, 2);
  IConvolutionLayer* last;

  explicit ConvClient(const Dims& shape = kShape) {
    logger.keepsNotes = true;
    ITensor* x = input("x", shape);
    auto* conv = convolution(*x, first, "first");
    auto* relu = network->addActivation(*conv->getOutput(0), ActivationType::kRELU);
    relu->getOutput(0)->setName("r");
    auto* pool = network->addPoolingNd(*relu->getOutput(0), PoolingType::kMAX, Dims2(3, 3));
    pool->setPaddingNd(Dims2(1, 1));
    pool->setStrideNd(Dims2(1, 1));
    pool->getOutput(0)->setName("p");
    auto* sum = network->addElementWise(*pool->getOutput(0), *relu->getOutput(0),
                                        ElementWiseOperation::kSUM);
    sum->getOutput(0)->setName("s");
    last = convolution(*sum->getOutput(0), second, "last");
    output(last->getOutput(0), "y");
    config->setFlag(BuilderFlag::kINT8);
    config->setProfilingVerbosity(ProfilingVerbosity::kDETAILED);
  }
  IConvolutionLayer* convolution(ITensor& x, const std::vector<float>& weights, const char* name) {
    auto* conv = network->addConvolutionNd(x, 4, Dims2(3, 3), weightsOf(weights), noWeights());
    conv->setPaddingNd(Dims2(1, 1));
    conv->setName(name);
    return conv;
  }

  // How many layers compute in bytes.
  int64_t byteLayers(const ICudaEngine& engine) const {
    const std::unique_ptr<IEngineInspector> inspector(engine.createEngineInspector());
    int64_t count = 0;
    for (int32_t i = 0; i < engine.getNbLayers(); ++i) {
      const std::string layer = inspector->getLayerInformation(i, LayerInformationFormat::kJSON);
      count += layer.find("ConvInteger") != std::string::npos ||
               layer.find("MatMulInteger") != std::string::npos;
    }
    return count;
  }
  // ‖a - b‖ / ‖b‖ of results for x, here and in real numbers; elsewhere nothing is in bytes.
  double errorFor(const std::vector<float>& x) {
    if (testDevice != DeviceType::kCPU) return build() ? 0 : 1;
    const std::vector<float> bytes = run({{"x", kShape, x.data()}});
    config->clearFlag(BuilderFlag::kINT8);
    const std::vector<float> real = run({{"x", kShape, x.data()}});
    config->setFlag(BuilderFlag::kINT8);
    double difference = 0, size = 0;
    for (size_t i = 0; i < real.size(); ++i) {
      difference += std::pow(bytes[i] - real[i], 2);
      size += std::pow(real[i], 2);
    }
    return std::sqrt(difference / size);
  }
};

template <class Interface>
class TestCalibrator : public Interface {
 public:
  int32_t getBatchSize() const noexcept override { return 1; }
  bool getBatch(void* bindings[], const char* names[], int32_t count) noexcept override {
    asked.assign(names, names + count);
    if (used == static_cast<int>(batches.size())) return false;
    bindings[0] = batches[used++].data();
    return true;
  }
  const void* readCalibrationCache(std::size_t& length) noexcept override {
    length = cache.size();
    return cache.data();
  }
  void writeCalibrationCache(const void* data, std::size_t length) noexcept override {
    cache.assign(static_cast<const char*>(data), length);
  }

  std::vector<std::vector<float>> batches{randomNumbers(kElements, 3), randomNumbers(kElements, 4)};
  int used = 0;
  std::vector<std::string> asked;
  std::string cache;
};

class LegacyCalibrator : public TestCalibrator<IInt8LegacyCalibrator> {
 public:
  double getQuantile() const noexcept override { return quantile; }
  double getRegressionCutoff() const noexcept override { return 0; }
  const void* readHistogramCache(std::size_t& length) noexcept override {
    length = histograms.size();
    return histograms.data();
  }
  void writeHistogramCache(const void* data, std::size_t length) noexcept override {
    histograms.assign(static_cast<const char*>(data), length);
  }
  double quantile = 0.9999;
  std::string histograms;
};

template <class Calibrator>
void expectGoodEngine(Calibrator&& calibrator, const char* header) {
  ConvClient client;
  client.config->setInt8Calibrator(&calibrator);
  EXPECT_EQ(client.config->getInt8Calibrator(), &calibrator);
  EXPECT_LT(client.errorFor(randomNumbers(kElements, 5)), 0.03) << header;
  EXPECT_EQ(calibrator.used, 2);
  EXPECT_THAT(calibrator.asked, ElementsAre("x"));
  EXPECT_THAT(calibrator.cache, StartsWith(std::string(header) + "\n"));
  for (const char* tensor : {"\nx: ", "\nr: ", "\np: ", "\ns: "})
    EXPECT_THAT(calibrator.cache, HasSubstr(tensor));
  // From the cache, without data.
  calibrator.batches.clear();
  const auto engine = client.build();
  ASSERT_TRUE(engine) << client.logger.errors.back();
  EXPECT_EQ(client.byteLayers(*engine), 2);
  EXPECT_TRUE(client.logger.warnings.empty());
}

TEST(Calibration, EveryCalibratorGivesAnEngine) {
  expectGoodEngine(TestCalibrator<IInt8EntropyCalibrator2>(), "TRT-101600-EntropyCalibration2");
  expectGoodEngine(TestCalibrator<IInt8EntropyCalibrator>(), "TRT-101600-EntropyCalibration");
  expectGoodEngine(TestCalibrator<IInt8MinMaxCalibrator>(), "TRT-101600-MinMaxCalibration");
  expectGoodEngine(LegacyCalibrator(), "TRT-101600-LegacyCalibration");
}

// Histograms stay when the part of them that counts is another.
TEST(Calibration, IsOfferedOnEveryDevice) {
  ConvClient client;
  EXPECT_TRUE(client.builder->platformHasFastInt8());  // exporters ask before they calibrate
}

TEST(Calibration, LegacyCalibratorsKeepHistograms) {
  ConvClient client;
  LegacyCalibrator calibrator;
  client.config->setInt8Calibrator(&calibrator);
  ASSERT_TRUE(client.build());
  const std::string wide = std::exchange(calibrator.cache, "");
  calibrator.quantile = 0.5;
  calibrator.batches.clear();
  ASSERT_TRUE(client.build()) << client.logger.errors.back();
  EXPECT_NE(calibrator.cache, wide);
}

TEST(Calibration, CachesOfOtherAlgorithmsAreNotUsed) {
  ConvClient client;
  TestCalibrator<IInt8MinMaxCalibrator> calibrator;
  client.config->setInt8Calibrator(&calibrator);
  for (const char* cache : {"TRT-8601-EntropyCalibration2\nx: 3c010a14\n", "no cache at all"}) {
    calibrator.cache = cache;
    calibrator.used = 0;
    client.logger.warnings.clear();
    ASSERT_TRUE(client.build());
    EXPECT_EQ(calibrator.used, 2);
    EXPECT_THAT(client.logger.warnings, ElementsAre(HasSubstr("calibrated anew")));
  }
}

TEST(Calibration, TensorsWithoutRangeAreNamedAndStayReal) {
  ConvClient client;
  TestCalibrator<IInt8EntropyCalibrator2> calibrator;
  calibrator.cache = "TRT-8601-EntropyCalibration2\nx: 3c810a14\nelsewhere: 3c010a14\n";
  client.config->setInt8Calibrator(&calibrator);
  const auto engine = client.build();
  ASSERT_TRUE(engine);
  EXPECT_EQ(client.byteLayers(*engine), 1);
  EXPECT_THAT(client.logger.warnings,
              ElementsAre(HasSubstr("layers that read s stay in floating point")));
}

TEST(Calibration, NoBatchIsAnError) {
  ConvClient client;
  TestCalibrator<IInt8EntropyCalibrator2> calibrator;
  calibrator.batches.clear();
  client.config->setInt8Calibrator(&calibrator);
  EXPECT_FALSE(client.build());
  EXPECT_THAT(client.logger.errors, ElementsAre(HasSubstr("getBatch() returned false")));
}

// Batches have the opt shapes of the calibration profile.
TEST(Calibration, ProfilesSayWhichShapesBatchesHave) {
  ConvClient client(Dims4(-1, 4, 8, 8));
  const auto profileOf = [&](int64_t min, int64_t opt, int64_t max) {
    IOptimizationProfile* profile = client.builder->createOptimizationProfile();
    profile->setDimensions("x", OptProfileSelector::kMIN, Dims4(min, 4, 8, 8));
    profile->setDimensions("x", OptProfileSelector::kOPT, Dims4(opt, 4, 8, 8));
    profile->setDimensions("x", OptProfileSelector::kMAX, Dims4(max, 4, 8, 8));
    return profile;
  };
  ASSERT_EQ(client.config->addOptimizationProfile(profileOf(1, 4, 8)), 0);
  IOptimizationProfile* calibration = profileOf(1, 2, 2);
  ASSERT_TRUE(client.config->setCalibrationProfile(calibration));
  EXPECT_EQ(client.config->getCalibrationProfile(), calibration);
  LegacyCalibrator calibrator;
  calibrator.batches = {randomNumbers(2 * kElements, 6)};
  calibrator.batches[0].back() = 1000;
  calibrator.quantile = 1;
  client.config->setInt8Calibrator(&calibrator);
  ASSERT_TRUE(client.build()) << client.logger.errors.back();
  EXPECT_THAT(calibrator.cache, HasSubstr("\nx: 40fbf7f0"));  // 1000 / 127
}

TEST(Calibration, RangesOfTensorsNeedNoCalibrator) {
  ConvClient client;
  EXPECT_FALSE(client.network->getInput(0)->dynamicRangeIsSet());
  EXPECT_TRUE(std::isnan(client.network->getInput(0)->getDynamicRangeMin()));
  EXPECT_TRUE(client.network->getInput(0)->setDynamicRange(-4, 4));
  EXPECT_EQ(client.network->getInput(0)->getDynamicRangeMin(), -4);
  for (int32_t i = 0; i < client.network->getNbLayers(); ++i) {
    ITensor* tensor = client.network->getLayer(i)->getOutput(0);
    EXPECT_TRUE(tensor->setDynamicRange(-60, 60)) << tensor->getName();
    EXPECT_EQ(tensor->getDynamicRangeMax(), 60);
  }
  const auto engine = client.build();
  ASSERT_TRUE(engine);
  EXPECT_EQ(client.byteLayers(*engine), 2);
  EXPECT_LT(client.errorFor(randomNumbers(kElements, 5)), 0.03);

  ITensor& x = *client.network->getInput(0);
  EXPECT_FALSE(x.setDynamicRange(1, -1));
  EXPECT_TRUE(client.reported("the smaller first"));
  EXPECT_FALSE(x.setDynamicRange(0, INFINITY));
  EXPECT_TRUE(client.reported("two numbers"));
  x.resetDynamicRange();
  EXPECT_FALSE(x.dynamicRangeIsSet());
}

TEST(Calibration, CalibratorsAreAskedOnlyWhereTheyCount) {
  TestCalibrator<IInt8EntropyCalibrator2> calibrator;
  const auto isAskedBy = [&](ConvClient& client) {
    client.config->setInt8Calibrator(&calibrator);
    EXPECT_TRUE(client.build());
    return calibrator.used > 0;
  };
  ConvClient real;
  real.config->clearFlag(BuilderFlag::kINT8);
  EXPECT_FALSE(isAskedBy(real));
  EXPECT_EQ(TestLogger::countIn(real.logger.notes, "kINT8 is not set"), 1);

  ConvClient refittable;
  refittable.config->setFlag(BuilderFlag::kREFIT);
  EXPECT_FALSE(isAskedBy(refittable));
  EXPECT_EQ(TestLogger::countIn(refittable.logger.notes, "refitted"), 1);

  ConvClient quantised;
  const std::vector<float> scale{0.1f};
  ITensor& step = *quantised.network->addConstant({0, {}}, weightsOf(scale))->getOutput(0);
  ITensor& bytes =
      *quantised.network->addQuantize(*quantised.network->getOutput(0), step)->getOutput(0);
  quantised.output(quantised.network->addDequantize(bytes, step)->getOutput(0), "z");
  EXPECT_FALSE(isAskedBy(quantised));
  EXPECT_EQ(TestLogger::countIn(quantised.logger.notes, "says itself what is quantised"), 1);

  ConvClient unknown;
  EXPECT_TRUE(unknown.build());
  EXPECT_THAT(unknown.logger.warnings, ElementsAre(HasSubstr("no tensor has a range")));
}

TEST(Calibration, TypesOfLayersAreKept) {
  ConvClient client;
  TestCalibrator<IInt8EntropyCalibrator2> calibrator;
  client.config->setInt8Calibrator(&calibrator);
  const auto layersIn = [&](DataType type, BuilderFlag constraints) {
    client.last->setPrecision(type);
    client.config->setFlag(constraints);
    const auto engine = client.build();
    client.config->clearFlag(constraints);
    return engine ? client.byteLayers(*engine) : -1;
  };
  constexpr auto kObey = BuilderFlag::kOBEY_PRECISION_CONSTRAINTS;
  constexpr auto kPrefer = BuilderFlag::kPREFER_PRECISION_CONSTRAINTS;
  EXPECT_EQ(layersIn(DataType::kFLOAT, kObey), 1);
  EXPECT_EQ(layersIn(DataType::kFLOAT, kPrefer), 1);
  EXPECT_EQ(layersIn(DataType::kINT8, kObey), 2);
  client.config->setFlag(BuilderFlag::kFP16);
  EXPECT_EQ(layersIn(DataType::kHALF, kPrefer), 1);
  client.config->clearFlag(BuilderFlag::kFP16);

  calibrator.cache = "TRT-101600-EntropyCalibration2\nx: 3c810a14\n";
  EXPECT_EQ(layersIn(DataType::kINT8, kObey), -1);
  EXPECT_THAT(client.logger.errors.back(), HasSubstr("no range is known for 's'"));
  EXPECT_EQ(layersIn(DataType::kINT8, kPrefer), 1);
  client.config->clearFlag(BuilderFlag::kINT8);
  EXPECT_EQ(layersIn(DataType::kINT8, kObey), -1);
  EXPECT_THAT(client.logger.errors.back(), HasSubstr("builder flags do not allow"));
}

}  // namespace
}  // namespace camshaft::api
