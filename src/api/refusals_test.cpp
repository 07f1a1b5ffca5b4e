// What TensorRT's classes offer beyond building and running: refused in words, or answered.
#include <gmock/gmock.h>

#include "NvOnnxConfig.h"
#include "NvOnnxParser.h"
#include "api/test_client.h"

namespace camshaft::api {
namespace {

using namespace nvinfer1;
using testing::HasSubstr;

// y = x + x for x [2].
struct Doubling : Client {
  ITensor* x = input("x", {1, {2}});
  Doubling() {
    output(network->addElementWise(*x, *x, ElementWiseOperation::kSUM)->getOutput(0), "y");
  }
};

TEST(Refusals, SettingsThatBuildsCannotFollowYet) {
  Doubling client;
  IBuilderConfig& config = *client.config;
  const auto refuses = [&](const std::function<void()>& set) {
    client.logger.errors.clear();
    set();
    return client.logger.errors.size() == 1;
  };
  EXPECT_TRUE(refuses([&] { EXPECT_FALSE(config.setRemoteAutoTuningConfig("there")); }));
  EXPECT_TRUE(refuses([&] { EXPECT_FALSE(config.setBuildRoute("other")); }));
}

TEST(Refusals, EnginesAreForThisMachineAndRuntime) {
  Doubling client;
  IBuilderConfig& config = *client.config;
  const auto builds = [&] {
    client.logger.errors.clear();
    return client.build() != nullptr;
  };
  const auto said = [&](const char* part) {
    return testing::Value(client.logger.errors, testing::ElementsAre(HasSubstr(part)));
  };
  for (const auto capability : {EngineCapability::kSAFETY, EngineCapability::kDLA_STANDALONE}) {
    config.setEngineCapability(capability);
    EXPECT_EQ(config.getEngineCapability(), capability);
    EXPECT_FALSE(builds());
    EXPECT_TRUE(said("kSTANDARD"));
  }
  config.setEngineCapability(EngineCapability::kSTANDARD);
  config.setRuntimePlatform(RuntimePlatform::kWINDOWS_AMD64);
  EXPECT_EQ(config.getRuntimePlatform(), RuntimePlatform::kWINDOWS_AMD64);
  EXPECT_FALSE(builds());
  EXPECT_TRUE(said("kSAME_AS_BUILD"));
  config.setRuntimePlatform(RuntimePlatform::kSAME_AS_BUILD);
  EXPECT_TRUE(builds());
}

TEST(Refusals, TensorsHaveOneFormat) {
  Client client;
  ITensor& x = *client.input("x", {1, {2}});
  x.setAllowedFormats(0);
  EXPECT_TRUE(client.reported("formats"));
  x.setAllowedFormats(1u << static_cast<int>(TensorFormat::kLINEAR));
  EXPECT_EQ(x.getAllowedFormats(), 1u);
  EXPECT_EQ(x.getLocation(), TensorLocation::kDEVICE);
}

TEST(Refusals, PlainEnginesCannotBeRefittedOrStreamed) {
  Doubling client;
  const auto engine = client.build();
  EXPECT_EQ(createInferRefitter(*engine, client.logger), nullptr);
  ASSERT_EQ(client.logger.errors.size(), 1u);
  EXPECT_THAT(client.logger.errors[0], HasSubstr("refitted"));
  EXPECT_FALSE(engine->isRefittable());
  EXPECT_FALSE(engine->setWeightStreamingBudgetV2(1));
  EXPECT_EQ(engine->getStreamableWeightsSize(), 0);
  const std::unique_ptr<ISerializationConfig> config(engine->createSerializationConfig());
  EXPECT_TRUE(config->setFlag(SerializationFlag::kEXCLUDE_WEIGHTS));
  EXPECT_EQ(engine->serializeWithConfig(*config), nullptr);
  EXPECT_TRUE(config->clearFlag(SerializationFlag::kEXCLUDE_WEIGHTS));
  const std::unique_ptr<IHostMemory> file(engine->serializeWithConfig(*config));
  EXPECT_TRUE(file);
}

TEST(Refusals, ContextsHaveDebugTensorsOnlyWhereMarked) {
  Doubling client;
  const auto engine = client.build();
  const std::unique_ptr<IRuntimeConfig> config(engine->createRuntimeConfig());
  config->setExecutionContextAllocationStrategy(ExecutionContextAllocationStrategy::kUSER_MANAGED);
  const std::unique_ptr<IExecutionContext> context(engine->createExecutionContext(config.get()));
  EXPECT_EQ(context->getRuntimeConfig()->getExecutionContextAllocationStrategy(),
            ExecutionContextAllocationStrategy::kUSER_MANAGED);
  EXPECT_FALSE(context->setTensorDebugState("y", true));
  EXPECT_THAT(client.logger.errors.back(), HasSubstr("no debug tensor"));
  EXPECT_TRUE(context->setDebugListener(nullptr));
  EXPECT_EQ(static_cast<int64_t>(context->updateDeviceMemorySizeForShapes()),
            engine->getDeviceMemorySizeForProfileV2(0));
}

struct Bytes : IStreamWriter {
  std::vector<std::byte> all;
  int64_t write(const void* data, int64_t size) override {
    const auto* begin = static_cast<const std::byte*>(data);
    const int64_t taken = std::min<int64_t>(size, 1000);  // a few at a time
    all.insert(all.end(), begin, begin + taken);
    return taken;
  }
};

template <class Reader>
int64_t readInto(Reader& reader, void* to, int64_t size) {
  const int64_t left = static_cast<int64_t>(reader.bytes.size()) - reader.position;
  const int64_t given = std::min(size, left);
  std::memcpy(to, reader.bytes.data() + reader.position, static_cast<size_t>(given));
  reader.position += given;
  return given;
}

struct Reader : IStreamReader {
  std::vector<std::byte> bytes;
  int64_t position = 0;
  int64_t read(void* to, int64_t size) override { return readInto(*this, to, size); }
};

struct ReaderV2 : IStreamReaderV2 {
  std::vector<std::byte> bytes;
  int64_t position = 0;
  int64_t read(void* to, int64_t size, cudaStream_t) noexcept override {
    return readInto(*this, to, size);
  }
  bool seek(int64_t, SeekPosition) noexcept override { return false; }
};

TEST(Streams, EnginesGoThroughThem) {
  Doubling client;
  Bytes written;
  ASSERT_TRUE(
      client.builder->buildSerializedNetworkToStream(*client.network, *client.config, written));
  Reader reader;
  ReaderV2 readerV2;
  reader.bytes = readerV2.bytes = written.all;
  const std::vector<float> x = {1, 2};
  for (ICudaEngine* made :
       {client.runtime->deserializeCudaEngine(reader),
        client.runtime->deserializeCudaEngine(readerV2),
        client.builder->buildEngineWithConfig(*client.network, *client.config)}) {
    const std::unique_ptr<ICudaEngine> engine(made);
    ASSERT_TRUE(engine);
    EXPECT_EQ(client.runEngine(*engine, {{"x", {1, {2}}, x.data()}}), (std::vector<float>{2, 4}));
  }
}

TEST(Versions, ProgramsOfTheSameMajorVersionFit) {
  TestLogger logger;
  const auto creates = [&](int32_t version) {
    const std::unique_ptr<IRuntime> runtime(
        static_cast<IRuntime*>(createInferRuntime_INTERNAL(&logger, version)));
    return runtime != nullptr;
  };
  EXPECT_TRUE(creates(100000));
  EXPECT_TRUE(creates(100901));
  EXPECT_TRUE(creates(NV_TENSORRT_VERSION + 3));  // a patch
  EXPECT_TRUE(logger.errors.empty());
  EXPECT_FALSE(creates(NV_TENSORRT_VERSION + 100));
  EXPECT_FALSE(creates(110000));
  EXPECT_FALSE(creates(8601));
  EXPECT_THAT(logger.errors.back(), HasSubstr("compile it with headers of TensorRT 10.0 to 10.16"));
}

TEST(Settings, AreWhatWasSet) {
  Client client;
  IOptimizationProfile& profile = *client.builder->createOptimizationProfile();
  const int32_t values[] = {3, 4};
  EXPECT_TRUE(profile.setShapeValues("s", OptProfileSelector::kOPT, values, 2));
  EXPECT_EQ(profile.getShapeValues("s", OptProfileSelector::kOPT)[1], 4);
  EXPECT_EQ(profile.getShapeValues("s", OptProfileSelector::kMIN), nullptr);
  EXPECT_FALSE(profile.setExtraMemoryTarget(2));
  EXPECT_EQ(&client.network->getBuilder(), client.builder.get());
  EXPECT_EQ(getLogger(), &client.logger);
  EXPECT_EQ(client.runtime->getNbDLACores(), 0);
  const std::unique_ptr<nvonnxparser::IOnnxConfig> config(nvonnxparser::createONNXConfig());
  EXPECT_EQ(config->getModelFileName(), nullptr);
  config->setModelFileName("model.onnx");
  EXPECT_STREQ(config->getModelFileName(), "model.onnx");
}

}  // namespace
}  // namespace camshaft::api
