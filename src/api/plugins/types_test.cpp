// Plugins that take one type only, in networks of another.
#include <gmock/gmock.h>

#include "api/plugins/test_plugins.h"
#include "api/test_client.h"
#include "support/half.h"

namespace camshaft::api {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Twice its input, of half precision.
class HalfPlugin final : public TestV3<HalfPlugin> {
 public:
  static constexpr char kName[] = "TestHalf";
  using TestV3::TestV3;
  bool supportsFormatCombination(int32_t position, const DynamicPluginTensorDesc* all, int32_t,
                                 int32_t) noexcept override {
    const PluginTensorDesc& desc = all[position].desc;
    return desc.format == format && desc.type == nvinfer1::DataType::kHALF;
  }
  int32_t enqueue(const PluginTensorDesc* inputs, const PluginTensorDesc*, const void* const* in,
                  void* const* out, void*, cudaStream_t) noexcept override {
    const auto* x = static_cast<const Half*>(in[0]);
    auto* y = static_cast<Half*>(out[0]);
    for (int64_t i = 0; i < elementsOf(inputs[0].dims); ++i)
      y[i] = Half(2 * static_cast<float>(x[i]));
    return 0;
  }
  static inline TensorFormat format = TensorFormat::kLINEAR;
};

class PluginTypes : public testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(getPluginRegistry()->registerCreator(creator_, "")); }
  void TearDown() override {
    getPluginRegistry()->deregisterCreator(creator_);
    EXPECT_EQ(pluginLog().alive, 0);
  }
  static void fill(Client& client) {
    ITensor* x = client.input("x", Dims2(1, 3));
    HalfPlugin plugin;
    ITensor* y = client.network->addPluginV3(&x, 1, nullptr, 0, plugin)->getOutput(0);
    client.output(client.network->addActivation(*y, ActivationType::kRELU)->getOutput(0), "y");
  }

  CreatorOf<HalfPlugin> creator_;
};

TEST_F(PluginTypes, GetCastsWhere16BitsAreAllowed) {
  Client client;
  fill(client);
  client.config->setFlag(BuilderFlag::kFP16);
  const std::vector<float> data{-1, 0.5F, 3};
  EXPECT_THAT(client.run({{"x", Dims2(1, 3), data.data()}}), ElementsAre(0, 1, 6));
}

TEST_F(PluginTypes, AreRefusedElsewhere) {
  Client client;
  fill(client);
  EXPECT_FALSE(client.build());
  EXPECT_THAT(client.logger.errors.back(), HasSubstr("does not take linear f32 as its input 0"));
}

TEST_F(PluginTypes, OfFormatsThatThereAreNotAreRefused) {
  Client client;
  fill(client);
  client.config->setFlag(BuilderFlag::kFP16);
  HalfPlugin::format = TensorFormat::kCHW16;
  EXPECT_FALSE(client.build());
  HalfPlugin::format = TensorFormat::kLINEAR;
  EXPECT_THAT(client.logger.errors.back(), HasSubstr("does not take linear"));
}

}  // namespace
}  // namespace camshaft::api
