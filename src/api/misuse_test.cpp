// What callers should not do: every call is refused in words or harmless, never a crash.
#include <gmock/gmock.h>

#include <filesystem>
#include <limits>

#include "CamshaftFiles.h"
#include "CamshaftSlim.h"
#include "NvOnnxParser.h"
#include "api/test_client.h"

namespace camshaft::api {
namespace {

using namespace nvinfer1;
using testing::HasSubstr;

constexpr int32_t kNumbers[] = {-1, 1000, std::numeric_limits<int32_t>::max(),
                                std::numeric_limits<int32_t>::min()};

template <class Enum>
std::vector<Enum> wrongValues() {
  std::vector<Enum> values;
  for (int32_t number : kNumbers) values.push_back(static_cast<Enum>(number));
  return values;
}

// y = relu(x) for x [batch, 4], batch 1 to 8.
std::unique_ptr<ICudaEngine> reluEngine(Client& client) {
  ITensor* x = client.input("x", Dims2(-1, 4));
  client.output(client.network->addActivation(*x, ActivationType::kRELU)->getOutput(0), "y");
  IOptimizationProfile* profile = client.builder->createOptimizationProfile();
  profile->setDimensions("x", OptProfileSelector::kMIN, Dims2(1, 4));
  profile->setDimensions("x", OptProfileSelector::kOPT, Dims2(2, 4));
  profile->setDimensions("x", OptProfileSelector::kMAX, Dims2(8, 4));
  client.config->addOptimizationProfile(profile);
  return client.build();
}

TEST(Misuse, ConfigsTakeNoUnknownValues) {
  Client client;
  IBuilderConfig& config = *client.config;
  const auto flags = config.getFlags();
  for (const auto flag : wrongValues<BuilderFlag>()) {
    config.setFlag(flag);
    config.clearFlag(flag);
    EXPECT_FALSE(config.getFlag(flag));
  }
  EXPECT_EQ(config.getFlags(), flags);
  for (const auto pool : wrongValues<MemoryPoolType>()) {
    config.setMemoryPoolLimit(pool, 1);
    EXPECT_EQ(config.getMemoryPoolLimit(pool), 0u);
  }
  for (const auto device : wrongValues<DeviceType>()) config.setDefaultDeviceType(device);
  EXPECT_EQ(config.getDefaultDeviceType(), DeviceType::kCPU);  // the client's
  for (const auto verbosity : wrongValues<ProfilingVerbosity>())
    config.setProfilingVerbosity(verbosity);
  EXPECT_EQ(config.getProfilingVerbosity(), ProfilingVerbosity::kLAYER_NAMES_ONLY);
  EXPECT_EQ(config.addOptimizationProfile(nullptr), -1);
  EXPECT_THAT(client.logger.errors.front(), HasSubstr("there is no builder flag -1"));
  EXPECT_THAT(client.logger.errors.back(), HasSubstr("was given no profile"));
  for (int32_t number : {-1, std::numeric_limits<int32_t>::min()}) {
    config.setMaxAuxStreams(number);
    config.setAvgTimingIterations(number);
    config.setBuilderOptimizationLevel(number);
    config.setComputeCapability(number);
    EXPECT_FALSE(client.builder->setMaxThreads(number));
    EXPECT_FALSE(client.runtime->setMaxThreads(number));
  }
}

TEST(Misuse, ProfilesTakeNothingThatIsNotThere) {
  Client client;
  IOptimizationProfile& profile = *client.builder->createOptimizationProfile();
  const int32_t narrow[] = {1, 2};
  const int64_t wide[] = {1, 2};
  const auto opt = OptProfileSelector::kOPT;
  EXPECT_FALSE(profile.setShapeValues("x", opt, nullptr, 2));
  EXPECT_FALSE(profile.setShapeValues("x", opt, narrow, -1));
  EXPECT_FALSE(profile.setShapeValues(nullptr, opt, narrow, 2));
  EXPECT_FALSE(profile.setShapeValuesV2("x", opt, nullptr, 2));
  EXPECT_FALSE(profile.setShapeValuesV2("x", opt, wide, -1));
  EXPECT_FALSE(profile.setDimensions(nullptr, opt, Dims2(1, 1)));
  EXPECT_FALSE(profile.setDimensions("x", opt, Dims{9, {}}));
  EXPECT_FALSE(profile.setDimensions("x", opt, Dims{-1, {}}));
  for (const auto select : wrongValues<OptProfileSelector>()) {
    EXPECT_FALSE(profile.setDimensions("x", select, Dims2(1, 1)));
    EXPECT_FALSE(profile.setShapeValues("x", select, narrow, 2));
    EXPECT_FALSE(profile.setShapeValuesV2("x", select, wide, 2));
  }
  EXPECT_EQ(profile.getNbShapeValues("x"), -1) << "nothing was entered by what failed";
  EXPECT_TRUE(profile.setShapeValues("x", opt, narrow, 2));
  for (const auto select : wrongValues<OptProfileSelector>()) {
    EXPECT_EQ(profile.getDimensions("x", select).nbDims, -1);
    EXPECT_FALSE(profile.getShapeValuesV2("x", select));
  }
  EXPECT_FALSE(profile.getShapeValuesV2("x", OptProfileSelector::kMIN)) << "there are not two";
  EXPECT_EQ(profile.getShapeValuesV2("x", opt)[1], 2);
  EXPECT_EQ(profile.getDimensions(nullptr, opt).nbDims, -1);
  EXPECT_EQ(profile.getNbShapeValues(nullptr), -1);
  EXPECT_FALSE(profile.getShapeValuesV2(nullptr, opt));
}

TEST(Misuse, EnginesAndContextsKnowWhatTheyHave) {
  Client client;
  const auto engine = reluEngine(client);
  ASSERT_TRUE(engine);
  const std::unique_ptr<IExecutionContext> context(engine->createExecutionContext());
  for (const char* name : {static_cast<const char*>(nullptr), "", "nothing"}) {
    EXPECT_EQ(engine->getTensorIOMode(name), TensorIOMode::kNONE);
    EXPECT_EQ(engine->getTensorShape(name).nbDims, -1);
    EXPECT_EQ(engine->getTensorBytesPerComponent(name), -1);
    EXPECT_STREQ(engine->getTensorFormatDesc(name), "");
    EXPECT_FALSE(engine->isShapeInferenceIO(name));
    EXPECT_EQ(engine->getProfileShape(name, 0, OptProfileSelector::kOPT).nbDims, -1);
    EXPECT_FALSE(context->setInputShape(name, Dims2(1, 4)));
    EXPECT_EQ(context->getTensorShape(name).nbDims, -1);
    EXPECT_EQ(context->getTensorStrides(name).nbDims, -1);
    EXPECT_FALSE(context->setTensorAddress(name, nullptr));
    EXPECT_FALSE(context->setInputTensorAddress(name, nullptr));
    EXPECT_FALSE(context->setOutputTensorAddress(name, nullptr));
    EXPECT_FALSE(context->getTensorAddress(name));
    EXPECT_FALSE(context->getOutputTensorAddress(name));
    EXPECT_FALSE(context->setOutputAllocator(name, nullptr));
    EXPECT_FALSE(context->getOutputAllocator(name));
    EXPECT_EQ(context->getMaxOutputSize(name), -1);
  }
  for (int32_t number : kNumbers) {
    EXPECT_FALSE(engine->getIOTensorName(number));
    EXPECT_EQ(engine->getDeviceMemorySizeForProfileV2(number), -1);
    EXPECT_EQ(engine->getProfileShape("x", number, OptProfileSelector::kOPT).nbDims, -1);
    EXPECT_FALSE(context->setOptimizationProfileAsync(number, nullptr));
    EXPECT_FALSE(context->setInputShape("x", Dims{number, {}}));
  }
  for (const auto select : wrongValues<OptProfileSelector>())
    EXPECT_EQ(engine->getProfileShape("x", 0, select).nbDims, -1);
  for (const auto strategy : wrongValues<ExecutionContextAllocationStrategy>())
    EXPECT_FALSE(engine->createExecutionContext(strategy));
  EXPECT_FALSE(context->executeV2(nullptr));
  context->setName(nullptr);
  context->setDeviceMemoryV2(nullptr, -1);
  EXPECT_EQ(context->inferShapes(-1, nullptr), -1);
  EXPECT_EQ(context->inferShapes(1, nullptr), -1);
  EXPECT_EQ(context->inferShapes(0, nullptr), 1);
  const char* one = nullptr;
  EXPECT_EQ(context->inferShapes(-1, &one), -1);
  EXPECT_FALSE(one);
  EXPECT_FALSE(context->reportToProfiler());
  EXPECT_FALSE(client.runtime->deserializeCudaEngine(nullptr, 100));
  EXPECT_FALSE(client.runtime->deserializeCudaEngine("", 0));
  EXPECT_FALSE(client.runtime->deserializeCudaEngineFromFile(nullptr));
}

TEST(Misuse, ContextsAndInspectorsOutliveTheirEngine) {
  Client client;
  auto engine = reluEngine(client);
  ASSERT_TRUE(engine);
  const std::unique_ptr<IExecutionContext> context(engine->createExecutionContext());
  const std::unique_ptr<IEngineInspector> inspector(engine->createEngineInspector());
  EXPECT_EQ(&context->getEngine(), engine.get());
  ASSERT_TRUE(inspector->setExecutionContext(context.get()));
  engine.reset();
  client.runtime.reset();
  EXPECT_EQ(context->getEngine().getNbIOTensors(), 2);
  EXPECT_STREQ(context->getEngine().getIOTensorName(1), "y");
  const std::vector<float> x{-1, 2, -3, 4};
  std::vector<float> y(4);
  ASSERT_TRUE(context->setInputShape("x", Dims2(1, 4)));
  ASSERT_TRUE(context->setInputTensorAddress("x", x.data()));
  ASSERT_TRUE(context->setTensorAddress("y", y.data()));
  ASSERT_TRUE(context->enqueueV3(nullptr));
  EXPECT_EQ(y, (std::vector<float>{0, 2, 0, 4}));
  void* bindings[] = {const_cast<float*>(x.data()), y.data()};
  EXPECT_TRUE(context->executeV2(bindings));
  context->setDeviceMemory(nullptr);
  const std::string text = inspector->getEngineInformation(LayerInformationFormat::kJSON);
  EXPECT_THAT(text, HasSubstr("Layers"));
}

TEST(Misuse, InspectorsOutliveTheirContextAndTakeNoForeignOne) {
  Client client, other;
  const auto engine = reluEngine(client), foreign = reluEngine(other);
  ASSERT_TRUE(engine && foreign);
  const std::unique_ptr<IEngineInspector> inspector(engine->createEngineInspector());
  {
    const std::unique_ptr<IExecutionContext> context(engine->createExecutionContext());
    ASSERT_TRUE(inspector->setExecutionContext(context.get()));
    EXPECT_EQ(inspector->getExecutionContext(), context.get());
    ASSERT_TRUE(context->setInputShape("x", Dims2(5, 4)));
  }
  EXPECT_FALSE(inspector->getExecutionContext());
  EXPECT_TRUE(inspector->getEngineInformation(LayerInformationFormat::kJSON));
  EXPECT_TRUE(inspector->getLayerInformation(0, LayerInformationFormat::kONELINE));
  const std::unique_ptr<IExecutionContext> wrong(foreign->createExecutionContext());
  EXPECT_FALSE(inspector->setExecutionContext(wrong.get()));
  for (int32_t number : kNumbers)
    EXPECT_FALSE(inspector->getLayerInformation(number, LayerInformationFormat::kJSON));
  for (const auto format : wrongValues<LayerInformationFormat>()) {
    EXPECT_FALSE(inspector->getLayerInformation(0, format));
    EXPECT_FALSE(inspector->getEngineInformation(format));
  }
}

TEST(Misuse, RemovedLayersAndTensorsAreStillObjects) {
  Client client;
  ITensor* x = client.input("x", Dims2(2, 3));
  auto* relu = client.network->addActivation(*x, ActivationType::kRELU);
  auto* topk = client.network->addTopK(*x, TopKOperation::kMAX, 1, 1);
  ITensor* y = relu->getOutput(0);
  client.network->removeTensor(*y);
  for (int32_t i : {0, 1}) client.network->removeTensor(*topk->getOutput(i));
  EXPECT_EQ(client.network->getNbLayers(), 0);
  EXPECT_STREQ(relu->getName(), "activation_0");
  EXPECT_EQ(relu->getType(), LayerType::kACTIVATION);
  EXPECT_EQ(relu->getInput(0), x);
  EXPECT_STREQ(relu->getOutput(0)->getName(), "");
  EXPECT_EQ(relu->getOutput(0)->getDimensions().nbDims, -1);
  EXPECT_TRUE(client.logger.errors.empty());
  relu->setAlpha(2);
  EXPECT_TRUE(client.reported("layer 'activation_0' was removed from the network"));
  EXPECT_EQ(relu->getAlpha(), 0);
  relu->setInput(0, *x);
  EXPECT_TRUE(client.reported("was removed"));
  topk->setK(2);
  EXPECT_TRUE(client.reported("was removed"));
  y->setName("z");
  EXPECT_TRUE(client.reported("removed from the network is used again"));
  client.network->markOutput(*y);
  EXPECT_TRUE(client.reported("removed from the network is used again"));
  EXPECT_FALSE(client.network->addActivation(*y, ActivationType::kRELU));
  EXPECT_TRUE(client.reported("removed from the network is used again"));
  client.network->removeTensor(*y);
  EXPECT_TRUE(client.reported("removed from the network is used again"));
  relu->setName("still");
  relu->setPrecision(DataType::kHALF);
  EXPECT_STREQ(relu->getName(), "still");
  client.output(client.network->addIdentity(*x)->getOutput(0), "y");
  EXPECT_EQ(client.run({{"x", Dims2(2, 3), iota(6).data()}}), iota(6));
}

TEST(Misuse, LayersTakeNoUnknownValues) {
  Client client;
  ITensor& x = *client.input("x", Dims4(1, 2, 4, 4));
  ITensor& c = *client.input("c", Dims4(1, 2, 4, 4), DataType::kBOOL);
  ITensor& axis = *client.integers({0});
  INetworkDefinition& n = *client.network;
  const int32_t layers = n.getNbLayers();
  const std::vector<float> ones(64, 1.0f);
  // Of the caller, for which clang 14 has no std::source_location.
  const auto expectNull = [&](const void* layer, int32_t number, int line = __builtin_LINE()) {
    EXPECT_FALSE(layer) << "line " << line << " with " << number;
    EXPECT_GE(client.logger.errors.size(), 1u) << "line " << line << " with " << number;
    client.logger.errors.clear();
  };
  for (int32_t number : kNumbers) {
    expectNull(n.addActivation(x, static_cast<ActivationType>(number)), number);
    expectNull(n.addUnary(x, static_cast<UnaryOperation>(number)), number);
    expectNull(n.addElementWise(x, x, static_cast<ElementWiseOperation>(number)), number);
    expectNull(n.addPoolingNd(x, static_cast<PoolingType>(number), DimsHW(2, 2)), number);
    expectNull(n.addCast(x, static_cast<DataType>(number)), number);
    expectNull(n.addReduce(x, static_cast<ReduceOperation>(number), 1, true), number);
    expectNull(n.addTopK(x, static_cast<TopKOperation>(number), 1, 2), number);
    expectNull(n.addTopK(x, TopKOperation::kMAX, 1, 2, static_cast<DataType>(number)), number);
    expectNull(n.addCumulative(x, axis, static_cast<CumulativeOperation>(number), false, false),
               number);
    expectNull(
        n.addMatrixMultiply(x, static_cast<MatrixOperation>(number), x, MatrixOperation::kNONE),
        number);
    expectNull(n.addGatherV2(x, axis, static_cast<GatherMode>(number)), number);
    if (number != -1) expectNull(n.addGather(x, axis, number), number);  // the last one
    expectNull(n.addScale(x, static_cast<ScaleMode>(number), noWeights(), noWeights(), noWeights()),
               number);
    expectNull(n.addInput("other", static_cast<DataType>(number), Dims2(1, 1)), number);
    expectNull(n.addInput("other", DataType::kFLOAT, Dims{number, {}}), number);
    expectNull(n.addConstant(Dims2(number, 2), weightsOf(ones)), number);
    expectNull(n.addConstant(Dims2(8, 8), {DataType::kFLOAT, nullptr, 64}), number);
    expectNull(n.addConstant(Dims2(8, 8), {DataType::kFLOAT, ones.data(), number}), number);
    expectNull(n.addConstant(Dims2(8, 8), {static_cast<DataType>(number), ones.data(), 64}),
               number);
    expectNull(n.addConvolutionNd(x, number, DimsHW(3, 3), weightsOf(ones), noWeights()), number);
    expectNull(n.addSlice(x, Dims{number, {}}, Dims{4, {}}, Dims{4, {}}), number);
    expectNull(n.addOneHot(axis, x, axis, number), number);
    EXPECT_FALSE(n.getFlag(static_cast<NetworkDefinitionCreationFlag>(number)));
    EXPECT_FALSE(n.getLayer(number));
    EXPECT_FALSE(n.getInput(number));
    EXPECT_FALSE(n.getOutput(number));
    client.logger.errors.clear();
  }
  expectNull(n.addInput(nullptr, DataType::kFLOAT, Dims2(1, 1)), 0);
  expectNull(n.addEinsum(nullptr, 2, "ab,bc->ac"), 0);
  ITensor* both[] = {&x, nullptr};
  expectNull(n.addEinsum(both, 2, "ab,bc->ac"), 0);
  expectNull(n.addEinsum(both, -1, "ab,bc->ac"), 0);
  expectNull(n.addEinsum(both, 1, nullptr), 0);
  expectNull(n.addConcatenation(nullptr, 2), 0);
  expectNull(n.addConcatenation(both, 2), 0);
  expectNull(n.addConcatenation(both, 0), 0);
  expectNull(n.addSelect(x, x, x), 0);
  EXPECT_EQ(n.getNbLayers(), layers) << "what failed left nothing behind";
  Client stranger;
  expectNull(n.addActivation(*stranger.input("s", Dims2(1, 1)), ActivationType::kRELU), 0);
  ASSERT_TRUE(n.addSelect(c, x, x));
}

TEST(Misuse, LayersKeepWhatTheyHadWhenASetterIsRefused) {
  Client client;
  ITensor& x = *client.input("x", Dims4(1, 2, 4, 4));
  auto* resize = client.network->addResize(x);
  resize->setScales(nullptr, 4);
  EXPECT_EQ(resize->getScales(0, nullptr), -1);
  for (int32_t number : kNumbers) {
    resize->setScales(nullptr, number);
    resize->setResizeMode(static_cast<InterpolationMode>(number));
    resize->setCoordinateTransformation(static_cast<ResizeCoordinateTransformation>(number));
    resize->setSelectorForSinglePixel(static_cast<ResizeSelector>(number));
    resize->setNearestRounding(static_cast<ResizeRoundMode>(number));
    resize->setOutputType(number, DataType::kFLOAT);
    resize->setPrecision(static_cast<DataType>(number));
    EXPECT_FALSE(resize->getInput(number));
    EXPECT_FALSE(resize->getOutput(number));
    EXPECT_FALSE(resize->outputTypeIsSet(number));
    resize->resetOutputType(number);
    resize->setInput(number, x);
    x.setDimensionName(number, "d");
    EXPECT_FALSE(x.getDimensionName(number));
    x.setType(static_cast<DataType>(number));
    x.setDimensions(Dims{number, {}});
  }
  resize->setName(nullptr);
  resize->setMetadata(nullptr);
  x.setName(nullptr);
  x.setName("");
  auto* slice = client.network->addSlice(x, Dims{4, {}}, Dims4(1, 1, 1, 1), Dims4(1, 1, 1, 1));
  auto* shuffle = client.network->addShuffle(x);
  auto* pooling = client.network->addPoolingNd(x, PoolingType::kMAX, DimsHW(2, 2));
  for (int32_t number : kNumbers) {
    slice->setMode(static_cast<SampleMode>(number));
    slice->setStart(Dims{number, {}});
    shuffle->setReshapeDimensions(Dims{number, {}});
    Permutation order;
    std::fill(std::begin(order.order), std::end(order.order), number);
    shuffle->setFirstTranspose(order);
    pooling->setPoolingType(static_cast<PoolingType>(number));
    pooling->setPaddingMode(static_cast<PaddingMode>(number));
    pooling->setStrideNd(DimsHW(number, number));
    pooling->setWindowSizeNd(DimsHW(number, number));
    pooling->setPaddingNd(DimsHW(number, number));
  }
  EXPECT_EQ(resize->getResizeMode(), InterpolationMode::kNEAREST);
  EXPECT_EQ(pooling->getPoolingType(), PoolingType::kMAX);
  EXPECT_STREQ(x.getName(), "x");
  EXPECT_GT(client.logger.errors.size(), 40u);
}

TEST(Misuse, ParsersOutliveErrorsNetworksAndArguments) {
  Client client;
  std::unique_ptr<nvonnxparser::IParser> parser(
      nvonnxparser::createParser(*client.network, client.logger));
  ASSERT_TRUE(parser);
  EXPECT_FALSE(parser->parse("no model", 8));
  ASSERT_EQ(parser->getNbErrors(), 1);
  const nvonnxparser::IParserError* error = parser->getError(0);
  const std::string text = error->desc();
  parser->clearErrors();
  EXPECT_EQ(parser->getNbErrors(), 0);
  EXPECT_FALSE(parser->getError(0));
  EXPECT_EQ(error->desc(), text);
  EXPECT_FALSE(parser->parse(nullptr, 8));
  EXPECT_FALSE(parser->parseFromFile(nullptr, 0));
  EXPECT_FALSE(parser->supportsModelV2(nullptr, 0));
  EXPECT_FALSE(parser->loadModelProto(nullptr, 0));
  EXPECT_FALSE(parser->loadInitializer(nullptr, nullptr, 0));
  EXPECT_FALSE(parser->parseModelProto());
  EXPECT_FALSE(parser->supportsOperator(nullptr));
  EXPECT_FALSE(parser->getLayerOutputTensor(nullptr, 0));
  for (int32_t number : kNumbers) {
    int64_t length = 7;
    EXPECT_FALSE(parser->getError(number));
    EXPECT_FALSE(parser->isSubgraphSupported(number));
    EXPECT_FALSE(parser->getSubgraphNodes(number, length));
    EXPECT_EQ(length, 0);
    EXPECT_FALSE(parser->getLayerOutputTensor("y", number));
    parser->setFlag(static_cast<nvonnxparser::OnnxParserFlag>(number));
    EXPECT_FALSE(parser->getFlag(static_cast<nvonnxparser::OnnxParserFlag>(number)));
  }
  EXPECT_EQ(error->desc(), text);
  EXPECT_FALSE(createNvOnnxParser_INTERNAL(nullptr, &client.logger, NV_ONNX_PARSER_VERSION));
  client.network->setErrorRecorder(nullptr);
  client.network.reset();
  EXPECT_FALSE(parser->parse("no model", 8));
  EXPECT_THAT(client.logger.errors.back(),
              HasSubstr("the network that the parser was made for has ended"));
  EXPECT_FALSE(parser->getLayerOutputTensor("y", 0));
  client.network.reset(client.builder->createNetworkV2(0));
}

TEST(Misuse, ParsersDoNotTakeANetworkThatHasConstants) {
  Client client;
  ITensor* axes = client.integers({1, 2});
  const std::unique_ptr<nvonnxparser::IParser> parser(
      nvonnxparser::createParser(*client.network, client.logger));
  // opset 17, a graph of one Identity
  const unsigned char model[] = {8,   8,  58,  40,  10,  16,  10,  1,   120, 18,  1,  121,
                                 34,  8,  'I', 'd', 'e', 'n', 't', 'i', 't', 'y', 18, 1,
                                 103, 90, 5,   10,  1,   120, 18,  0,   98,  5,   10, 1,
                                 121, 18, 0,   66,  4,   10,  0,   16,  17};
  EXPECT_FALSE(parser->parse(model, sizeof model));
  EXPECT_STREQ(axes->getName(), "constant_0_output");
}

TEST(Misuse, TimingCachesMayEndBeforeTheirConfig) {
  Client client;
  {
    const std::unique_ptr<ITimingCache> cache(client.config->createTimingCache(nullptr, 0));
    ASSERT_TRUE(client.config->setTimingCache(*cache, false));
    EXPECT_TRUE(cache->combine(*cache, false));
  }
  EXPECT_FALSE(client.config->getTimingCache());
  EXPECT_TRUE(reluEngine(client)) << "the build measures into what is left of it";
}

TEST(Misuse, FilesAndModelsNeedNamesAndBytes) {
  TestLogger logger;
  EXPECT_FALSE(writeFile(nullptr, "x", 1, logger));
  EXPECT_FALSE(writeFile("", "x", 1, logger));
  EXPECT_FALSE(writeFile((testing::TempDir() + "/camshaft_none").c_str(), nullptr, 1, logger));
  EXPECT_FALSE(slimModel(nullptr, 100, logger));
  EXPECT_FALSE(slimModel("", 0, logger));
  EXPECT_FALSE(slimModelFile(nullptr, logger));
  EXPECT_EQ(logger.errors.size(), 6u);
}

TEST(Misuse, StreamedFilesAreThereOnceTheyAreCommitted) {
  TestLogger logger;
  EXPECT_FALSE(createFileWriter(nullptr, logger));
  EXPECT_FALSE(createFileWriter((testing::TempDir() + "/none/camshaft").c_str(), logger));
  EXPECT_THAT(logger.errors.back(), HasSubstr("No such file"));
  const std::string path = testing::TempDir() + "/camshaft_streamed";
  std::filesystem::remove(path);
  {
    const std::unique_ptr<IFileWriter> dropped(createFileWriter(path.c_str(), logger));
    EXPECT_EQ(dropped->write("half", 4), 4);
  }
  EXPECT_FALSE(std::filesystem::exists(path));
  const std::unique_ptr<IFileWriter> writer(createFileWriter(path.c_str(), logger));
  EXPECT_EQ(writer->write("who", 3), 3);
  EXPECT_EQ(writer->write("le", 2), 2);
  EXPECT_FALSE(std::filesystem::exists(path));
  EXPECT_TRUE(writer->isGood());
  EXPECT_TRUE(writer->commit());
  EXPECT_EQ(std::filesystem::file_size(path), 5u);

  const std::unique_ptr<IFileWriter> full(createFileWriter("/dev/full", logger));
  EXPECT_EQ(full->write("x", 1), -1);
  EXPECT_FALSE(full->isGood());
  EXPECT_FALSE(full->commit());
  EXPECT_THAT(logger.errors.back(), HasSubstr("No space left"));
}

}  // namespace
}  // namespace camshaft::api
