// Inputs and outputs in other formats than the linear one; also run on the emulated GPU.
#include <gmock/gmock.h>

#include "api/test_client.h"

namespace camshaft::api {
namespace {

using namespace nvinfer1;
using testing::ElementsAre;
using testing::HasSubstr;
using Floats = std::vector<float>;

struct Case {
  TensorFormat format;
  std::vector<int64_t> dims;  // the tensor's
  int32_t vectorizedDim, components;
  std::vector<int64_t> strides;
  const char* text;
};

constexpr int64_t kN = 2, kD = 2, kH = 2, kW = 3;

std::vector<Case> cases() {
  return {
      {TensorFormat::kLINEAR,
       {kN, 3, kH, kW},
       -1,
       -1,
       {18, 6, 3, 1},
       "Row-major linear FP32 format"},
      {TensorFormat::kCHW2, {kN, 3, kH, kW}, 1, 2, {12, 6, 3, 1}, "Two-wide channel"},
      {TensorFormat::kCHW4, {kN, 5, kH, kW}, 1, 4, {12, 6, 3, 1}, "Four-wide channel"},
      {TensorFormat::kCHW4, {5, kH, kW}, 0, 4, {6, 3, 1}, "Four-wide channel"},
      {TensorFormat::kCHW16, {kN, 17, kH, kW}, 1, 16, {12, 6, 3, 1}, "Sixteen-wide channel"},
      {TensorFormat::kCHW32, {kN, 32, kH, kW}, 1, 32, {6, 6, 3, 1}, "Thirty-two wide channel"},
      {TensorFormat::kHWC, {kN, 3, kH, kW}, -1, -1, {18, 1, 9, 3}, "Channel major FP32 format"},
      {TensorFormat::kHWC8, {kN, 3, kH, kW}, 1, 8, {6, 1, 3, 1}, "C % 8 == 0"},
      {TensorFormat::kHWC16, {kN, 17, kH, kW}, 1, 16, {12, 1, 6, 2}, "C % 16 == 0"},
      {TensorFormat::kDHWC, {kN, 3, kD, kH, kW}, -1, -1, {36, 1, 18, 9, 3}, "Channel major FP32"},
      {TensorFormat::kDHWC8, {kN, 9, kD, kH, kW}, 1, 8, {24, 1, 12, 6, 2}, "C % 8 == 0"},
      {TensorFormat::kCDHW32, {kN, 5, kD, kH, kW}, 1, 32, {12, 12, 6, 3, 1}, "Thirty-two wide"},
  };
}

// Where each element of a tensor lies, by the definition of its format.
class Places {
 public:
  explicit Places(const Case& one) : dims_(one.dims) {
    const bool isVolume = one.dims.size() == 5;
    axis_ = dims_.size() - (isVolume ? 4 : 3);
    vector_ = std::max(one.components, 1);
    isLast_ = one.format == TensorFormat::kHWC || one.format == TensorFormat::kHWC8 ||
              one.format == TensorFormat::kHWC16 || one.format == TensorFormat::kDHWC ||
              one.format == TensorFormat::kDHWC8;
    groups_ = (dims_[axis_] + vector_ - 1) / vector_;
    for (size_t i = axis_ + 1; i < dims_.size(); ++i) spatial_ *= dims_[i];
    outer_ = axis_ == 0 ? 1 : dims_[0];
  }
  int64_t count() const { return outer_ * dims_[axis_] * spatial_; }
  int64_t storedCount() const { return outer_ * groups_ * vector_ * spatial_; }
  Floats store(const Floats& tensor, float padding) const {
    Floats stored(static_cast<size_t>(storedCount()), padding);
    size_t next = 0;
    for (int64_t n = 0; n < outer_; ++n)
      for (int64_t c = 0; c < dims_[axis_]; ++c)
        for (int64_t s = 0; s < spatial_; ++s)
          stored[static_cast<size_t>(
              isLast_ ? (n * spatial_ + s) * groups_ * vector_ + c
                      : ((n * groups_ + c / vector_) * spatial_ + s) * vector_ + c % vector_)] =
              tensor[next++];
    return stored;
  }

 private:
  std::vector<int64_t> dims_;
  size_t axis_;
  int64_t vector_, groups_, spatial_ = 1, outer_;
  bool isLast_;
};

Dims dimsOf(const std::vector<int64_t>& sizes) {
  Dims dims{static_cast<int32_t>(sizes.size()), {}};
  std::copy(sizes.begin(), sizes.end(), dims.d);
  return dims;
}

TensorFormats only(TensorFormat format) { return 1u << static_cast<uint32_t>(format); }

// y = x + 1, with x and y in the format; the first dimension is left to run time.
struct PlusOne : Client {
  explicit PlusOne(const Case& one) {
    std::vector<int64_t> declared = one.dims;
    const bool isDynamic = declared.size() > 3;
    if (isDynamic) declared[0] = -1;
    ITensor* x = input("x", dimsOf(declared));
    static const Floats ones{1};
    const Dims scalar = dimsOf(std::vector<int64_t>(declared.size(), 1));
    ITensor* sum =
        network
            ->addElementWise(*x, *network->addConstant(scalar, weightsOf(ones))->getOutput(0),
                             ElementWiseOperation::kSUM)
            ->getOutput(0);
    output(sum, "y");
    x->setAllowedFormats(only(one.format));
    sum->setAllowedFormats(only(one.format));
    EXPECT_EQ(x->getAllowedFormats(), only(one.format));
    if (!isDynamic) return;
    auto* profile = builder->createOptimizationProfile();
    for (const auto& [select, size] :
         {std::pair(OptProfileSelector::kMIN, int64_t{1}), std::pair(OptProfileSelector::kOPT, kN),
          std::pair(OptProfileSelector::kMAX, 2 * kN)}) {
      declared[0] = size;
      profile->setDimensions("x", select, dimsOf(declared));
    }
    config->addOptimizationProfile(profile);
  }
};

TEST(Formats, OfInputsAndOutputsAreConvertedAtTheBorder) {
  for (const Case& one : cases()) {
    SCOPED_TRACE(testing::Message() << "format " << static_cast<int>(one.format));
    PlusOne client(one);
    client.config->setFlag(BuilderFlag::kDIRECT_IO);
    const auto engine = client.build();
    ASSERT_TRUE(engine) << client.logger.errors.back();
    for (const char* name : {"x", "y"}) {
      EXPECT_EQ(engine->getTensorFormat(name), one.format);
      EXPECT_EQ(engine->getTensorFormat(name, 0), one.format);
      EXPECT_EQ(engine->getTensorVectorizedDim(name), one.vectorizedDim);
      EXPECT_EQ(engine->getTensorComponentsPerElement(name), one.components);
      EXPECT_EQ(engine->getTensorBytesPerComponent(name), one.components < 0 ? -1 : 4);
      EXPECT_THAT(engine->getTensorFormatDesc(name), HasSubstr(one.text));
      EXPECT_EQ(engine->getTensorShape(name).nbDims, static_cast<int32_t>(one.dims.size()));
    }
    EXPECT_EQ(listOf(engine->getProfileShape("x", 0, OptProfileSelector::kOPT)), one.dims);

    const Places places(one);
    const Floats x = iota(places.count());
    Floats expected = x;
    for (float& value : expected) value += 1;
    const Floats stored = places.store(x, 77);  // padding of inputs may be anything
    const std::unique_ptr<IExecutionContext> context(engine->createExecutionContext());
    ASSERT_TRUE(context->setInputShape("x", dimsOf(one.dims)));
    EXPECT_EQ(listOf(context->getTensorShape("y")), one.dims);
    EXPECT_EQ(listOf(context->getTensorStrides("x")), one.strides);
    EXPECT_EQ(listOf(context->getTensorStrides("y")), one.strides);
    const int64_t bytes = places.storedCount() * static_cast<int64_t>(sizeof(float));
    EXPECT_EQ(context->getMaxOutputSize("y"), bytes);
    TestMemory in(*engine, stored.data(), bytes), out(*engine, nullptr, bytes);
    context->setTensorAddress("x", in.data());
    context->setTensorAddress("y", out.data());
    ASSERT_TRUE(context->enqueueV3(nullptr)) << client.logger.errors.back();
    EXPECT_EQ(out.read<float>(), places.store(expected, 0));
  }
}

TEST(Formats, ShapesAreCheckedAsCallersKnowThem) {
  PlusOne client({TensorFormat::kCHW4, {kN, 5, kH, kW}, 1, 4, {}, ""});
  const auto engine = client.build();
  ASSERT_TRUE(engine);
  const std::unique_ptr<IExecutionContext> context(engine->createExecutionContext());
  EXPECT_THAT(listOf(context->getTensorShape("x")), ElementsAre(-1, 5, kH, kW));
  EXPECT_EQ(context->getTensorStrides("x").nbDims, -1);
  EXPECT_FALSE(context->setInputShape("x", Dims4(9, 5, kH, kW)));
  EXPECT_THAT(client.logger.errors.back(), HasSubstr("dimension 0 of input 'x' is 9"));
  EXPECT_FALSE(context->setInputShape("x", Dims4(kN, 8, kH, kW)));
  EXPECT_THAT(client.logger.errors.back(), HasSubstr("dimension 1 of input 'x' is 8"));
  EXPECT_FALSE(context->setInputShape("x", Dims3(5, kH, kW)));
  EXPECT_THAT(client.logger.errors.back(), HasSubstr("'x' has 4 dimensions, not 3"));
  EXPECT_EQ(engine->getTensorFormat("x", 1), TensorFormat::kLINEAR);
  EXPECT_THAT(client.logger.errors.back(), HasSubstr("profile 1 does not exist"));
}

TEST(Formats, WithoutMeaningAreRefusedInWords) {
  const auto reasonFor = [](TensorFormat format, const Dims& dims) -> std::string {
    Client client;
    ITensor* x = client.input("x", dims);
    client.output(client.network->addIdentity(*x)->getOutput(0), "y");
    x->setAllowedFormats(only(format));
    EXPECT_FALSE(client.build());
    return client.logger.errors.empty() ? "" : client.logger.errors.back();
  };
  EXPECT_THAT(reasonFor(TensorFormat::kDLA_LINEAR, Dims3(1, 2, 3)), HasSubstr("DLA"));
  EXPECT_THAT(reasonFor(TensorFormat::kCHW4, Dims2(2, 3)), HasSubstr("at least 3 dimensions"));
  EXPECT_THAT(reasonFor(TensorFormat::kDHWC, Dims3(1, 2, 3)), HasSubstr("at least 4 dimensions"));
  EXPECT_THAT(reasonFor(TensorFormat::kHWC8, Dims3(-1, 2, 3)), HasSubstr("number of channels"));
}

// Of several formats, the linear one is taken.
TEST(Formats, LinearIsPreferred) {
  Client client;
  ITensor* x = client.input("x", Dims3(3, 2, 2));
  client.output(client.network->addIdentity(*x)->getOutput(0), "y");
  x->setAllowedFormats(only(TensorFormat::kHWC) | only(TensorFormat::kLINEAR));
  const auto engine = client.build();
  ASSERT_TRUE(engine);
  EXPECT_EQ(engine->getTensorFormat("x"), TensorFormat::kLINEAR);
}

}  // namespace
}  // namespace camshaft::api
