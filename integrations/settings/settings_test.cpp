// What Python reads, C++ reads alike: tests/settings/cases.json is for both, as settings of the
// provider for ONNX Runtime.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "settings/build_settings.h"
#include "settings/schemas.h"

namespace camshaft::settings {
namespace {

using testing::HasSubstr;

Json cases() {
  std::ifstream file(CAMSHAFT_SETTINGS_CASES);
  return Json::parse(file);
}

TEST(Settings, AreReadAsPythonReadsThem) {
  const Json schema = Json::parse(kOnnxruntimeSchema);
  for (const Json& one : cases()) {
    try {
      const Json read = readSettings(schema, one["given"]);
      EXPECT_EQ(nlohmann::json(read), nlohmann::json(one.value("read", Json()))) << one;
    } catch (const SettingsError& error) {
      EXPECT_EQ(error.what(), one.value("error", "")) << one;
    }
  }
}

TEST(Settings, OfTheSchemasAreThoseThatAreApplied) {
  EXPECT_EQ(keyOfOneSide(Reader::kOnnxRuntime), "");
  EXPECT_EQ(keyOfOneSide(Reader::kTriton), "");
}

TEST(Settings, HaveTheDefaultsOfTheSchema) {
  const BuildSettings settings(Reader::kTriton, Json::object());
  EXPECT_EQ(settings.text("device"), "auto");
  EXPECT_EQ(settings.text("engine_cache"), "");
  EXPECT_EQ(settings.number("optimization_level"), 3);
  EXPECT_EQ(settings.list("precision"), std::vector<std::string>{"tf32"});
  EXPECT_TRUE(settings.profiles().empty());
}

TEST(Settings, AsTextsAreJsonOrTexts) {
  const std::map<std::string, std::string> texts = {{"threads", "3"},
                                                    {"timing_cache", "123"},
                                                    {"precision", "fp16,bf16"},
                                                    {"strongly_typed", "true"},
                                                    {"shapes", R"({"x": "1x3..8x3"})"},
                                                    {"device", "gpu"}};
  const BuildSettings settings(Reader::kTriton, BuildSettings::valuesOf(Reader::kTriton, texts));
  EXPECT_EQ(settings.number("threads"), 3);
  EXPECT_EQ(settings.text("timing_cache"), "123");
  EXPECT_EQ(settings.list("precision"), (std::vector<std::string>{"fp16", "bf16"}));
  EXPECT_EQ(settings.networkFlags(), 2u);
  const Profile profile = {{"x", {{1, 3}, {8, 3}, {8, 3}}}};
  EXPECT_EQ(settings.profiles(), std::vector<Profile>{profile});
  EXPECT_EQ(settings.text("device"), "gpu");
}

TEST(Settings, OfOneEngineHaveOneText) {
  const auto text = [](const char* json) {
    return BuildSettings(Reader::kTriton, Json::parse(json)).forBuild();
  };
  EXPECT_EQ(text(R"({"threads": 1, "precision": "fp16"})"),
            text(R"({"precision": ["fp16"], "threads": "1"})"));
  EXPECT_EQ(text(R"({"engine_cache": "a"})"), text(R"({"engine_cache": "b"})"));
  EXPECT_NE(text(R"({"threads": 1})"), text(R"({"threads": 2})"));
}

struct Errors : nvinfer1::ILogger {
  std::string all;
  void log(Severity severity, const char* text) noexcept override {
    if (severity <= Severity::kERROR) all += std::string(text) + "\n";
  }
};

// One network of a sum, for what reaches the objects of a build.
struct Network {
  Errors errors;
  std::unique_ptr<nvinfer1::IBuilder> builder{nvinfer1::createInferBuilder(errors)};
  std::unique_ptr<nvinfer1::INetworkDefinition> network{builder->createNetworkV2(0)};
  std::unique_ptr<nvinfer1::IBuilderConfig> config{builder->createBuilderConfig()};

  Network() {
    nvinfer1::ITensor* x =
        network->addInput("x", nvinfer1::DataType::kFLOAT, nvinfer1::Dims{2, {-1, 4}});
    nvinfer1::ILayer* sum = network->addElementWise(*x, *x, nvinfer1::ElementWiseOperation::kSUM);
    sum->setName("block.sum");
    sum->getOutput(0)->setName("y");
    network->markOutput(*sum->getOutput(0));
  }
  BuildTarget target() {
    return {*builder, *network, *config, [this](bool worked) {
              if (!worked) throw SettingsError(errors.all);
            }};
  }
};

TEST(Settings, ReachTheBuild) {
  using namespace nvinfer1;
  Network made;
  BuildSettings(Reader::kTriton, Json::parse(R"({
    "threads": 1, "precision": "fp32,bf16", "precision_constraints": "obey",
    "layer_precisions": {"block*": "bf16"}, "layer_output_types": {"block.sum": "fp16"},
    "dynamic_ranges": {"y": 3, "of another part": 1}, "optimization_level": 1,
    "timing_iterations": 4, "max_tactics": 2, "max_aux_streams": 1, "tiling_level": 2,
    "l2_limit_for_tiling": "1M", "tactic_sources": {"cudnn": false}, "workspace": "1K",
    "version_compatible": true, "verbosity": "none", "hardware_compatibility": "ampere_plus",
    "disabled_passes": "fuse_norms", "graph_folder": "graphs"})"))
      .apply(made.target());
  EXPECT_EQ(made.builder->getMaxThreads(), 1);
  IBuilderConfig& config = *made.config;
  EXPECT_FALSE(config.getFlag(BuilderFlag::kTF32));
  EXPECT_TRUE(config.getFlag(BuilderFlag::kBF16));
  EXPECT_TRUE(config.getFlag(BuilderFlag::kOBEY_PRECISION_CONSTRAINTS));
  EXPECT_TRUE(config.getFlag(BuilderFlag::kVERSION_COMPATIBLE));
  const ILayer& layer = *made.network->getLayer(0);
  EXPECT_EQ(layer.getPrecision(), DataType::kBF16);
  EXPECT_EQ(layer.getOutputType(0), DataType::kHALF);
  EXPECT_EQ(layer.getOutput(0)->getDynamicRangeMax(), 3);
  EXPECT_EQ(config.getBuilderOptimizationLevel(), 1);
  EXPECT_EQ(config.getAvgTimingIterations(), 4);
  EXPECT_EQ(config.getMaxNbTactics(), 2);
  EXPECT_EQ(config.getMaxAuxStreams(), 1);
  EXPECT_EQ(config.getTilingOptimizationLevel(), TilingOptimizationLevel::kMODERATE);
  EXPECT_EQ(config.getL2LimitForTiling(), 1 << 20);
  EXPECT_EQ(config.getTacticSources() >> static_cast<uint32_t>(TacticSource::kCUDNN) & 1, 0u);
  EXPECT_EQ(config.getMemoryPoolLimit(MemoryPoolType::kWORKSPACE), 1024u);
  EXPECT_EQ(config.getProfilingVerbosity(), ProfilingVerbosity::kNONE);
  EXPECT_EQ(config.getHardwareCompatibilityLevel(), HardwareCompatibilityLevel::kAMPERE_PLUS);
  EXPECT_STREQ(config.getGraphFolder(), "graphs");

  addProfile({{"x", {{1, 4}, {2, 4}, {8, 4}}}}, made.target());
  EXPECT_EQ(config.getNbOptimizationProfiles(), 1);
}

TEST(Settings, ThatFailSayWhy) {
  Network made;
  const auto failure = [&](const char* json) -> std::string {
    try {
      BuildSettings(Reader::kTriton, Json::parse(json)).apply(made.target());
    } catch (const SettingsError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_THAT(failure(R"({"disabled_passes": "fuse_nroms"})"), HasSubstr("fuse_nroms"));
  EXPECT_EQ(failure(R"({"timing_cache_required": true})"),
            "timing_cache_required wants a timing_cache");
  const BuildSettings plugins(Reader::kTriton, Json::parse(R"({"static_plugins": "nowhere.so"})"));
  EXPECT_THROW(plugins.loadPlugins(made.builder->getPluginRegistry()), SettingsError);
  EXPECT_THROW(
      BuildSettings(Reader::kTriton, Json::parse(R"({"profiles": [{"values": {"x": 1}}]})"))
          .profiles(),
      SettingsError);
}

}  // namespace
}  // namespace camshaft::settings
