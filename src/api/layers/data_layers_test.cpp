// Layers that move data, with constant and run-time shapes.
#include <gmock/gmock.h>

#include "api/test_client.h"

namespace camshaft::api {
namespace {

using namespace nvinfer1;
using testing::ElementsAre;

TEST(DataLayers, ShuffleTransposesReshapesTransposes) {
  Client client;
  auto* shuffle = client.network->addShuffle(*client.input("x", Dims3(2, 3, 2)));
  EXPECT_THAT(listOf(shuffle->getOutput(0)->getDimensions()), ElementsAre(2, 3, 2));
  shuffle->setReshapeDimensions(Dims2(0, -1));
  shuffle->setFirstTranspose({{1, 0, 2}});
  shuffle->setSecondTranspose({{1, 0}});
  EXPECT_THAT(listOf(shuffle->getOutput(0)->getDimensions()), ElementsAre(4, 3));
  EXPECT_EQ(shuffle->getFirstTranspose().order[0], 1);
  client.output(shuffle->getOutput(0), "y");
  const std::vector<float> data = iota(12);
  // transposed [3,2,2]: 0 1 6 7 | 2 3 8 9 | 4 5 10 11; as [3,4]; then columns
  EXPECT_THAT(client.run({{"x", Dims3(2, 3, 2), data.data()}}),
              ElementsAre(0, 2, 4, 1, 3, 5, 6, 8, 10, 7, 9, 11));
}

// Tensors that fit along another axis than the default one, which a setter names afterwards.
TEST(DataLayers, ConcatenationWhoseAxisComesLater) {
  Client client;
  ITensor* parts[] = {client.input("a", Dims4(1, 1, 2, 2)), client.input("b", Dims4(1, 1, 1, 2))};
  auto* joined = client.network->addConcatenation(parts, 2);
  ASSERT_TRUE(joined);
  EXPECT_EQ(joined->getAxis(), 1);
  client.output(joined->getOutput(0), "y");
  EXPECT_FALSE(client.build());
  EXPECT_THAT(client.logger.errors.back(), testing::HasSubstr("dimension 2 of input 1"));
  joined->setAxis(2);
  EXPECT_THAT(listOf(joined->getOutput(0)->getDimensions()), ElementsAre(1, 1, 3, 2));
  const std::vector<float> a{1, 2, 3, 4}, b{5, 6};
  EXPECT_THAT(client.run({{"a", Dims4(1, 1, 2, 2), a.data()}, {"b", Dims4(1, 1, 1, 2), b.data()}}),
              ElementsAre(1, 2, 3, 4, 5, 6));
  parts[1] = client.input("flat", Dims2(1, 2));
  EXPECT_FALSE(client.network->addConcatenation(parts, 2));
}

TEST(DataLayers, ShuffleToAShapeFromAnotherTensor) {
  Client client;
  ITensor* x = client.input("x", Dims2(-1, 4));
  auto* shape = client.network->addShape(*x);
  ITensor* first =
      client.network->addGather(*shape->getOutput(0), *client.integers({0}), 0)->getOutput(0);
  ITensor* parts[] = {first, client.integers({2, -1})};
  auto* wanted = client.network->addConcatenation(parts, 2);
  ASSERT_TRUE(wanted);
  EXPECT_TRUE(wanted->getOutput(0)->isShapeTensor());
  auto* shuffle = client.network->addShuffle(*x);
  shuffle->setInput(1, *wanted->getOutput(0));
  EXPECT_EQ(shuffle->getReshapeDimensions().nbDims, -1);
  EXPECT_THAT(listOf(shuffle->getOutput(0)->getDimensions()), ElementsAre(-1, 2, 2));
  client.output(shuffle->getOutput(0), "y");
  const std::vector<float> data = iota(12);
  EXPECT_EQ(client.run({{"x", Dims2(3, 4), data.data()}}), data);
  EXPECT_THAT(listOf(client.shape), ElementsAre(3, 2, 2));
}

TEST(DataLayers, ShuffleToAShapeKnownAtRunTimeOnly) {
  Client client;
  ITensor* x = client.input("x", Dims2(2, 6));
  ITensor* wanted = client.input("shape", {1, {2}}, DataType::kINT64);
  auto* shuffle = client.network->addShuffle(*x);
  shuffle->setInput(1, *wanted);
  ASSERT_TRUE(client.logger.errors.empty()) << client.logger.errors.back();
  client.output(shuffle->getOutput(0), "y");
  const std::vector<float> data = iota(12);
  const std::vector<int64_t> sizes{-1, 3};
  auto* profile = client.builder->createOptimizationProfile();
  const std::vector<int64_t> least{1, 1}, usual{4, 3}, most{12, 12};
  profile->setShapeValuesV2("shape", OptProfileSelector::kMIN, least.data(), 2);
  profile->setShapeValuesV2("shape", OptProfileSelector::kOPT, usual.data(), 2);
  profile->setShapeValuesV2("shape", OptProfileSelector::kMAX, most.data(), 2);
  client.config->addOptimizationProfile(profile);
  const auto engine = client.build();
  ASSERT_TRUE(engine) << client.logger.errors.back();
}

TEST(DataLayers, DimensionsTakeThePlaceOfTheTensorThatGaveThem) {
  Client client;
  ITensor* x = client.input("x", Dims2(2, 6));
  ITensor* wanted = client.input("shape", {1, {2}}, DataType::kINT64);
  auto* shuffle = client.network->addShuffle(*x);
  shuffle->setInput(1, *wanted);
  shuffle->setZeroIsPlaceholder(false);
  EXPECT_TRUE(client.logger.errors.empty());
  shuffle->setReshapeDimensions(Dims2(5, 5));
  EXPECT_TRUE(client.reported("'shuffle_0' (Reshape) cannot reshape"));
  EXPECT_EQ(shuffle->getInput(1), wanted);
  shuffle->setReshapeDimensions(Dims2(4, 3));
  EXPECT_EQ(shuffle->getInput(1), nullptr);
  EXPECT_THAT(listOf(shuffle->getReshapeDimensions()), ElementsAre(4, 3));
  EXPECT_THAT(listOf(shuffle->getOutput(0)->getDimensions()), ElementsAre(4, 3));
}

TEST(DataLayers, SqueezeAndUnsqueeze) {
  Client client;
  ITensor* x = client.input("x", Dims3(1, 2, 1));
  auto* squeezed = client.network->addSqueeze(*x, *client.integers({0, -1}));
  EXPECT_THAT(listOf(squeezed->getOutput(0)->getDimensions()), ElementsAre(2));
  auto* unsqueezed =
      client.network->addUnsqueeze(*squeezed->getOutput(0), *client.integers({-1, 0}));
  EXPECT_THAT(listOf(unsqueezed->getOutput(0)->getDimensions()), ElementsAre(1, 2, 1));
}

TEST(DataLayers, SliceTakesAMisfitUntilItIsBuilt) {
  Client client;
  ITensor* x = client.input("x", Dims2(2, 3));
  auto* slice = client.network->addSlice(*x, Dims2(0, 0), Dims2(2, 2), Dims2(1, 1));
  client.output(slice->getOutput(0), "y");
  slice->setInput(3, *x);  // strides are integers
  EXPECT_TRUE(client.logger.errors.empty());
  EXPECT_EQ(slice->getNbInputs(), 4);
  EXPECT_EQ(slice->getInput(2), nullptr);
  EXPECT_THAT(listOf(slice->getOutput(0)->getDimensions()), ElementsAre(2, 2));
  EXPECT_FALSE(client.build());
  EXPECT_THAT(client.logger.errors.at(0), testing::HasSubstr("an integer vector"));
  slice->setStride(Dims2(1, 1));
  EXPECT_TRUE(client.build());
}

TEST(DataLayers, SliceInsideAndOutside) {
  const std::vector<float> data = iota(6);
  Client client;
  ITensor* x = client.input("x", Dims2(2, 3));
  client.output(client.network->addSlice(*x, Dims2(1, 2), Dims2(2, 2), Dims2(-1, -2))->getOutput(0),
                "back");
  auto* filled = client.network->addSlice(*x, Dims2(0, 0), Dims2(2, 3), Dims2(1, 1));
  filled->setMode(SampleMode::kFILL);
  filled->setStart(Dims2(0, -1));
  filled->setSize(Dims2(1, 5));
  client.output(filled->getOutput(0), "filled");
  // Parameters may come one by one, and need not fit before all are there.
  auto* tensors = client.network->addSlice(*x, {0, {}}, {0, {}}, {0, {}});
  ASSERT_TRUE(tensors);
  client.output(tensors->getOutput(0), "tensors");
  EXPECT_FALSE(client.build());
  EXPECT_THAT(client.logger.errors.back(),
              testing::HasSubstr("slices 2 dimensions and was given 0 starts"));
  tensors->setInput(1, *client.integers({0, -2}));
  tensors->setInput(2, *client.integers({1, 3}));
  tensors->setStride(Dims2(1, 2));
  EXPECT_FALSE(client.build());
  EXPECT_THAT(client.logger.errors.back(), testing::HasSubstr("reads element -2 of dimension 1"));
  tensors->setMode(SampleMode::kCLAMP);
  // A stride of 0 takes an element again and again.
  auto* repeated = client.network->addSlice(*x, Dims2(1, 1), Dims2(1, 3), Dims2(1, 0));
  client.output(repeated->getOutput(0), "repeated");
  auto* runtime = client.network->addSlice(*x, Dims2(0, 0), Dims2(1, 1), Dims2(1, 1));
  runtime->setInput(1, *client.integers({1, 1}));
  runtime->setInput(2, *client.integers({1, 2}));
  EXPECT_EQ(runtime->getStart().nbDims, -1);
  client.output(runtime->getOutput(0), "runtime");
  const std::vector<Feed> feeds{{"x", Dims2(2, 3), data.data()}};
  EXPECT_THAT(client.run(feeds, "tensors"), ElementsAre(0, 0, 2));
  EXPECT_THAT(client.run(feeds, "repeated"), ElementsAre(4, 4, 4));
  EXPECT_THAT(client.run(feeds, "back"), ElementsAre(5, 3, 2, 0));
  EXPECT_THAT(client.run(feeds, "filled"), ElementsAre(0, 0, 1, 2, 0));
  EXPECT_THAT(client.run(feeds, "runtime"), ElementsAre(4, 5));
}

TEST(DataLayers, GatherInEachRowOfSharedDimensions) {
  for (const int64_t batch : {2, 1}) {
    Client client;
    ITensor* x = client.input("x", Dims3(batch, 2, 3));
    ITensor* picks = client.input("i", Dims2(2, 2), DataType::kINT32);
    auto* gather = client.network->addGather(*x, *picks, 0);
    gather->setNbElementWiseDims(1);
    EXPECT_EQ(gather->getNbElementWiseDims(), 1);
    client.output(gather->getOutput(0), "y");
    EXPECT_EQ(client.build(), nullptr);
    EXPECT_THAT(client.logger.errors.back(), testing::HasSubstr("set an axis after it"));
    gather->setGatherAxis(2);
    const std::vector<float> data = iota(batch * 6);
    const std::vector<int32_t> indices = {2, 0, 1, 9};
    const float second = batch == 2 ? 6 : 0;  // where the second row's data begin
    EXPECT_THAT(
        client.run({{"x", Dims3(batch, 2, 3), data.data()}, {"i", Dims2(2, 2), indices.data()}}),
        ElementsAre(2, 0, 5, 3, second + 1, 0, second + 4, 0));
    EXPECT_THAT(listOf(client.shape), ElementsAre(2, 2, 2));
    gather->setNbElementWiseDims(2);
    EXPECT_EQ(gather->getNbElementWiseDims(), 1) << "refused";
  }
}

TEST(DataLayers, GatherModesAndOneHot) {
  Client client;
  ITensor* x = client.input("x", Dims2(2, 3));
  ITensor* picks = client.integers({1, 0, 1});
  client.output(client.network->addGather(*x, *picks, 0)->getOutput(0), "rows");
  const std::vector<int64_t> places{0, 2, 1, 1};
  ITensor* places22 = client.network->addConstant(Dims2(2, 2), weightsOf(places))->getOutput(0);
  auto* elements = client.network->addGatherV2(*x, *places22, GatherMode::kELEMENT);
  elements->setGatherAxis(1);
  client.output(elements->getOutput(0), "elements");
  auto* points = client.network->addGatherV2(
      *x,
      *client.network->addConstant(Dims2(1, 2), weightsOf(std::vector<int64_t>{1, 2}))
           ->getOutput(0),
      GatherMode::kND);
  client.output(points->getOutput(0), "points");
  const std::vector<float> offOn{0, 9};
  ITensor* values = client.network->addConstant({1, {2}}, weightsOf(offOn))->getOutput(0);
  auto* oneHot = client.network->addOneHot(*picks, *values, *client.integers({2}), -1);
  ASSERT_TRUE(oneHot);
  client.output(oneHot->getOutput(0), "hot");
  const std::vector<float> data = iota(6);
  const std::vector<Feed> feeds{{"x", Dims2(2, 3), data.data()}};
  EXPECT_THAT(client.run(feeds, "rows"), ElementsAre(3, 4, 5, 0, 1, 2, 3, 4, 5));
  EXPECT_THAT(client.run(feeds, "elements"), ElementsAre(0, 2, 4, 4));
  EXPECT_THAT(client.run(feeds, "points"), ElementsAre(5));
  EXPECT_THAT(client.run(feeds, "hot"), ElementsAre(0, 9, 9, 0, 0, 9));
}

TEST(DataLayers, ResizeByScalesAndDimensions) {
  Client client;
  ITensor* x = client.input("x", Dims4(1, 1, 1, 2));
  auto* nearest = client.network->addResize(*x);
  const float scales[] = {1, 1, 2, 2};
  nearest->setScales(scales, 4);
  EXPECT_EQ(nearest->getScales(0, nullptr), 4);
  client.output(nearest->getOutput(0), "nearest");
  auto* linear = client.network->addResize(*x);
  linear->setResizeMode(InterpolationMode::kLINEAR);
  linear->setCoordinateTransformation(ResizeCoordinateTransformation::kALIGN_CORNERS);
  linear->setOutputDimensions(Dims4(1, 1, 1, 3));
  client.output(linear->getOutput(0), "linear");
  const std::vector<float> data{2, 6};
  const std::vector<Feed> feeds{{"x", Dims4(1, 1, 1, 2), data.data()}};
  EXPECT_THAT(client.run(feeds, "nearest"), ElementsAre(2, 2, 6, 6, 2, 2, 6, 6));
  EXPECT_THAT(client.run(feeds, "linear"), ElementsAre(2, 4, 6));
}

TEST(DataLayers, ResizeToOnePixel) {
  Client client;
  ITensor* x = client.input("x", Dims4(1, 1, 1, 4));
  const auto resized = [&](ResizeSelector selector, const char* name) {
    auto* resize = client.network->addResize(*x);
    resize->setResizeMode(InterpolationMode::kLINEAR);
    resize->setCoordinateTransformation(ResizeCoordinateTransformation::kHALF_PIXEL);
    resize->setSelectorForSinglePixel(selector);
    EXPECT_EQ(resize->getSelectorForSinglePixel(), selector);
    resize->setOutputDimensions(Dims4(1, 1, 1, 1));
    client.output(resize->getOutput(0), name);
  };
  resized(ResizeSelector::kFORMULA, "formula");
  resized(ResizeSelector::kUPPER, "upper");
  const std::vector<float> data{2, 4, 6, 8};
  const std::vector<Feed> feeds{{"x", Dims4(1, 1, 1, 4), data.data()}};
  EXPECT_THAT(client.run(feeds, "formula"), ElementsAre(5));
  EXPECT_THAT(client.run(feeds, "upper"), ElementsAre(2));
}

TEST(DataLayers, PaddingAddsZerosAndCrops) {
  Client client;
  ITensor* x = client.input("x", Dims3(1, 2, 3));
  auto* padding = client.network->addPaddingNd(*x, Dims2(1, 0), Dims2(0, 2));
  ASSERT_TRUE(padding);
  EXPECT_THAT(listOf(padding->getOutput(0)->getDimensions()), ElementsAre(1, 3, 5));
  padding->setPrePaddingNd(Dims2(0, 1));
  padding->setPostPaddingNd(Dims2(-1, -1));
  EXPECT_THAT(listOf(padding->getPostPaddingNd()), ElementsAre(-1, -1));
  client.output(padding->getOutput(0), "y");
  const std::vector<float> data = iota(6, 1);
  EXPECT_THAT(client.run({{"x", Dims3(1, 2, 3), data.data()}}), ElementsAre(0, 1, 2));
  padding->setPostPaddingNd(Dims2(-3, 0));
  EXPECT_TRUE(client.reported("crops 3 of the 2 elements of dimension 1"));
  padding->setPostPaddingNd(Dims3(0, 0, 0));
  EXPECT_TRUE(client.reported("pads two dimensions"));
  EXPECT_THAT(listOf(padding->getPostPaddingNd()), ElementsAre(-1, -1));
}

TEST(DataLayers, ScatterModes) {
  Client client;
  ITensor* x = client.input("x", Dims2(2, 3));
  const std::vector<int64_t> places{2, 0}, point{1, 1};
  const std::vector<float> values{8, 9}, one{7};
  ITensor* updates = client.network->addConstant(Dims2(2, 1), weightsOf(values))->getOutput(0);
  auto* elements = client.network->addScatter(
      *x, *client.network->addConstant(Dims2(2, 1), weightsOf(places))->getOutput(0), *updates,
      ScatterMode::kELEMENT);
  EXPECT_EQ(elements->getAxis(), 0);
  elements->setAxis(-1);
  client.output(elements->getOutput(0), "elements");
  auto* points = client.network->addScatter(
      *x, *client.network->addConstant(Dims2(1, 2), weightsOf(point))->getOutput(0),
      *client.network->addConstant({1, {1}}, weightsOf(one))->getOutput(0), ScatterMode::kND);
  EXPECT_EQ(points->getMode(), ScatterMode::kND);
  client.output(points->getOutput(0), "points");
  const std::vector<float> data = iota(6);
  const std::vector<Feed> feeds{{"x", Dims2(2, 3), data.data()}};
  EXPECT_THAT(client.run(feeds, "elements"), ElementsAre(0, 1, 8, 9, 4, 5));
  EXPECT_THAT(client.run(feeds, "points"), ElementsAre(0, 1, 2, 3, 7, 5));
  elements->setAxis(2);
  EXPECT_TRUE(client.reported("axis 2 of a tensor of rank 2"));
  const std::vector<int64_t> many{0, 1, 2, 0};
  ITensor* four = client.network->addConstant(Dims2(1, 4), weightsOf(many))->getOutput(0);
  auto* wide = client.network->addGatherV2(*x, *four, GatherMode::kELEMENT);
  ASSERT_TRUE(wide);
  client.output(wide->getOutput(0), "wide");
  EXPECT_FALSE(client.build());
  EXPECT_TRUE(testing::Value(client.logger.errors.back(), testing::HasSubstr("set another axis")));
  wide->setGatherAxis(1);
  EXPECT_THAT(client.run(feeds, "wide"), ElementsAre(0, 1, 2, 0));
  client.logger.errors.clear();
  client.recorder.clear();
  points->setMode(static_cast<ScatterMode>(5));
  EXPECT_TRUE(client.reported("there is no scatter mode 5"));
}

TEST(DataLayers, ReverseSequenceAlongEitherAxis) {
  Client client;
  ITensor* x = client.input("x", Dims2(3, 2));
  auto* reversed = client.network->addReverseSequence(*x, *client.integers({2, 3}));
  ASSERT_TRUE(reversed);
  EXPECT_EQ(reversed->getBatchAxis(), 1);
  EXPECT_EQ(reversed->getSequenceAxis(), 0);
  client.output(reversed->getOutput(0), "y");
  const std::vector<float> data = iota(6);
  // columns 0 2 4 and 1 3 5
  EXPECT_THAT(client.run({{"x", Dims2(3, 2), data.data()}}), ElementsAre(2, 5, 0, 3, 4, 1));
  reversed->setSequenceAxis(1);  // until the other follows
  EXPECT_FALSE(client.build());
  EXPECT_THAT(client.logger.errors.back(), testing::HasSubstr("has 1 for both of its axes"));
  reversed->setBatchAxis(0);
  EXPECT_FALSE(client.build());
  EXPECT_THAT(client.logger.errors.back(), testing::HasSubstr("2 lengths for the 3 entries"));
  reversed->setInput(1, *client.integers({1, 2, 2}));
  EXPECT_THAT(client.run({{"x", Dims2(3, 2), data.data()}}), ElementsAre(0, 1, 3, 2, 5, 4));
}

TEST(DataLayers, GridSampleBetweenAndOutside) {
  Client client;
  ITensor* x = client.input("x", Dims4(1, 1, 1, 2));
  const std::vector<float> grid{0, 0, -1, 0, 3, 0};  // (x, y) of the centre, the left, far right
  ITensor* places = client.network->addConstant(Dims4(1, 1, 3, 2), weightsOf(grid))->getOutput(0);
  auto* sample = client.network->addGridSample(*x, *places);
  ASSERT_TRUE(sample);
  EXPECT_EQ(sample->getInterpolationMode(), InterpolationMode::kLINEAR);
  EXPECT_EQ(sample->getSampleMode(), SampleMode::kFILL);
  sample->setAlignCorners(true);
  client.output(sample->getOutput(0), "y");
  const std::vector<float> data{2, 6};
  const std::vector<Feed> feeds{{"x", Dims4(1, 1, 1, 2), data.data()}};
  EXPECT_THAT(client.run(feeds), ElementsAre(4, 2, 0));
  EXPECT_TRUE(sample->setSampleMode(SampleMode::kCLAMP));
  EXPECT_THAT(client.run(feeds), ElementsAre(4, 2, 6));
  EXPECT_FALSE(sample->setSampleMode(SampleMode::kWRAP));
  EXPECT_TRUE(client.reported("kCLAMP, kFILL or kREFLECT"));
  EXPECT_EQ(sample->getSampleMode(), SampleMode::kCLAMP);
}

TEST(DataLayers, ConstantsCanBeReplaced) {
  Client client;
  ITensor* x = client.input("x", {1, {2}});
  const std::vector<float> ones{1, 1}, tens{10, 10};
  auto* constant = client.network->addConstant({1, {2}}, weightsOf(ones));
  auto* sum =
      client.network->addElementWise(*x, *constant->getOutput(0), ElementWiseOperation::kSUM);
  client.output(sum->getOutput(0), "y");
  constant->setWeights(weightsOf(tens));
  const std::vector<float> data{1, 2};
  EXPECT_THAT(client.run({{"x", {1, {2}}, data.data()}}), ElementsAre(11, 12));
  EXPECT_EQ(client.network->getNbLayers(), 2);
  EXPECT_EQ(client.network->getLayer(0), constant);
  EXPECT_EQ(client.network->getLayer(1), sum);
}

}  // namespace
}  // namespace camshaft::api
