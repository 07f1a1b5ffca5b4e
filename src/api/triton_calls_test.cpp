// A server that keeps a context for each profile and allocates everything beforehand: the calls of
// Triton's TensorRT backend, in its order. Also run on the emulated GPU.
#include <gmock/gmock.h>

#include "api/test_client.h"

namespace camshaft::api {
namespace {

using namespace nvinfer1;
using testing::ElementsAre;
using testing::ElementsAreArray;
using testing::HasSubstr;
using Strategy = ExecutionContextAllocationStrategy;

// For image [batch, 3, 2, width] in groups of four channels and rows [1]: y = 2 image as it came,
// top = the first `rows` of [0, 10, 20, …], kept = twice `rows` (for shapes), and
// places = where the sums over an image's pixels are not zero.
struct ServedModel : Client {
  std::vector<float> two{2}, tens;
  ServedModel() {
    for (int i = 0; i < 8; ++i) tens.push_back(10.f * static_cast<float>(i));
    ITensor* image = input("image", Dims4(-1, 3, 2, -1));
    ITensor* rows = input("rows", {1, {1}}, DataType::kINT64);
    ITensor* factor = network->addConstant(Dims4(1, 1, 1, 1), weightsOf(two))->getOutput(0);
    ITensor* y =
        network->addElementWise(*image, *factor, ElementWiseOperation::kPROD)->getOutput(0);
    auto* top = network->addSlice(*network->addConstant({1, {8}}, weightsOf(tens))->getOutput(0),
                                  {1, {0}}, {1, {1}}, {1, {1}});
    top->setInput(2, *rows);
    ITensor* kept = network->addElementWise(*rows, *rows, ElementWiseOperation::kSUM)->getOutput(0);
    ITensor* sums =
        network->addReduce(*image, ReduceOperation::kSUM, 1 << 2 | 1 << 3, false)->getOutput(0);
    output(y, "y");
    output(top->getOutput(0), "top");
    kept->setName("kept");
    EXPECT_TRUE(network->markOutputForShapes(*kept));
    output(network->addNonZero(*sums, DataType::kINT64)->getOutput(0), "places");
    for (ITensor* tensor : {image, y})
      tensor->setAllowedFormats(1u << static_cast<uint32_t>(TensorFormat::kCHW4));
    addProfile({1, 4}, {2, 4}, {4, 8}, {1, 2, 4});
    addProfile({1, 1}, {8, 4}, {16, 4}, {2, 4, 8});
  }
  using Size = std::pair<int64_t, int64_t>;  // batch, width
  void addProfile(Size min, Size opt, Size max, const std::vector<int64_t>& rows) {
    auto* profile = builder->createOptimizationProfile();
    const auto bound = [&](OptProfileSelector select, Size size, int64_t count) {
      EXPECT_TRUE(profile->setDimensions("image", select, Dims4(size.first, 3, 2, size.second)));
      EXPECT_TRUE(profile->setShapeValuesV2("rows", select, &count, 1));
    };
    bound(OptProfileSelector::kMIN, min, rows[0]);
    bound(OptProfileSelector::kOPT, opt, rows[1]);
    bound(OptProfileSelector::kMAX, max, rows[2]);
    EXPECT_GE(config->addOptimizationProfile(profile), 0);
  }
};

// An output whose size the data decides: memory that only grows.
class GrowingOutput : public IOutputAllocator {
 public:
  explicit GrowingOutput(const ICudaEngine& engine) : engine_(engine) {}
  void* reallocateOutput(const char*, void*, uint64_t size, uint64_t) noexcept override {
    if (static_cast<int64_t>(size) > bytes) {
      bytes = static_cast<int64_t>(size);
      memory = TestMemory(engine_, nullptr, bytes);
    }
    return bytes == 0 ? nullptr : memory.data();
  }
  void notifyShape(const char*, const Dims& dims) noexcept override { shape = dims; }
  void* buffer() { return bytes == 0 ? nullptr : memory.data(); }
  int64_t bytes = 0;
  TestMemory memory;
  Dims shape{};

 private:
  const ICudaEngine& engine_;
};

bool hasWildcard(const Dims& dims) {
  return std::find(dims.d, dims.d + dims.nbDims, -1) != dims.d + dims.nbDims;
}

class Server {
 public:
  Server(ICudaEngine& engine, Strategy strategy) : engine_(engine) {
    for (int32_t i = 0; i < engine.getNbIOTensors(); ++i)
      tensors_[engine.getIOTensorName(i)].isInput =
          engine.getTensorIOMode(engine.getIOTensorName(i)) == TensorIOMode::kINPUT;
    for (int32_t i = 0; i < engine.getNbOptimizationProfiles(); ++i) addContext(i, strategy);
    for (auto& [name, tensor] : tensors_) {
      if (tensor.isInput) prepareInput(name.c_str(), tensor);
    }
    for (const auto& context : contexts_) EXPECT_EQ(context->inferShapes(0, nullptr), 0);
    for (auto& [name, tensor] : tensors_) {
      if (!tensor.isInput) prepareOutput(name.c_str(), tensor);
    }
  }

  bool serve(size_t profile, const Dims4& imageShape, const std::vector<float>& image,
             int64_t rows) {
    IExecutionContext& context = *contexts_[profile];
    for (auto& [name, tensor] : tensors_)
      if (tensor.allocator) context.setOutputAllocator(name.c_str(), tensor.allocator.get());
    EXPECT_FALSE(engine_.isShapeInferenceIO("image"));
    EXPECT_TRUE(engine_.isShapeInferenceIO("rows"));
    if (!context.setInputShape("image", imageShape)) return false;
    Tensor& images = tensors_.at("image");
    images.memory = TestMemory(engine_, image.data(), static_cast<int64_t>(image.size()) * 4);
    tensors_.at("rows").memory = TestMemory(engine_, &rows, sizeof(rows), TensorLocation::kHOST);
    context.setInputTensorAddress("rows", tensors_.at("rows").memory.data());
    if (context.inferShapes(0, nullptr) != 0) return false;
    for (auto& [name, tensor] : tensors_)
      EXPECT_TRUE(context.setTensorAddress(name.c_str(), tensor.buffer())) << name;
    EXPECT_TRUE(context.setInputConsumedEvent(nullptr));
    EXPECT_EQ(context.getInputConsumedEvent(), nullptr);
    return context.enqueueV3(nullptr);
  }

  Dims shapeOf(size_t profile, const char* output) {
    const Tensor& tensor = tensors_.at(output);
    return tensor.allocator ? tensor.allocator->shape : contexts_[profile]->getTensorShape(output);
  }
  template <class T>
  std::vector<T> read(const char* output, int64_t count) {
    const Tensor& tensor = tensors_.at(output);
    auto values = (tensor.allocator ? tensor.allocator->memory : tensor.memory).template read<T>();
    values.resize(static_cast<size_t>(count));
    return values;
  }
  const void* addressOf(size_t profile, const char* tensor) {
    return contexts_[profile]->getTensorAddress(tensor);
  }

 private:
  struct Tensor {
    bool isInput = false;
    TestMemory memory;
    std::unique_ptr<GrowingOutput> allocator;  // of outputs whose size the data decides
    void* buffer() { return allocator ? allocator->buffer() : memory.data(); }
  };

  void addContext(int32_t profile, Strategy strategy) {
    contexts_.emplace_back(engine_.createExecutionContext(strategy));
    ASSERT_TRUE(contexts_.back());
    EXPECT_TRUE(profile == 0 || contexts_.back()->setOptimizationProfileAsync(profile, nullptr));
    EXPECT_EQ(contexts_.back()->getOptimizationProfile(), profile);
  }

  // Shapes and values are the largest of each profile, so that outputs are allocated once.
  void prepareInput(const char* name, Tensor& tensor) {
    int64_t bytes = 0;
    for (size_t i = 0; i < contexts_.size(); ++i) {
      IExecutionContext& context = *contexts_[i];
      const auto profile = static_cast<int32_t>(i);
      const Dims max = engine_.getProfileShape(name, profile, OptProfileSelector::kMAX);
      ASSERT_TRUE(context.setInputShape(name, max)) << name;
      if (engine_.isShapeInferenceIO(name)) {
        EXPECT_EQ(engine_.getTensorLocation(name), TensorLocation::kHOST);
        const int64_t* values =
            engine_.getProfileTensorValuesV2(name, profile, OptProfileSelector::kMAX);
        ASSERT_TRUE(values);
        largest_[profile] = values[0];
        ASSERT_TRUE(context.setInputTensorAddress(name, &largest_[profile]));
        bytes = sizeof(int64_t);
      } else {
        // In vectors of channels, of which the last may be partly empty.
        EXPECT_EQ(engine_.getTensorFormat(name), TensorFormat::kCHW4);
        const int32_t axis = engine_.getTensorVectorizedDim(name);
        const int32_t components = engine_.getTensorComponentsPerElement(name);
        EXPECT_THAT((std::vector{axis, components}), ElementsAre(1, 4));
        Dims padded = max;
        padded.d[axis] = (padded.d[axis] + components - 1) / components * components;
        bytes = std::max(bytes, countOf(padded) * engine_.getTensorBytesPerComponent(name));
        const Dims strides = context.getTensorStrides(name);
        EXPECT_EQ(strides.d[0] * max.d[0] * components, countOf(padded));
      }
    }
    tensor.memory = TestMemory(engine_, nullptr, bytes, engine_.getTensorLocation(name));
    if (engine_.isShapeInferenceIO(name)) return;  // keeps the address of the largest values
    for (const auto& context : contexts_)
      ASSERT_TRUE(context->setTensorAddress(name, tensor.memory.data()));
  }

  void prepareOutput(const char* name, Tensor& tensor) {
    int64_t bytes = 0;
    EXPECT_NE(engine_.getTensorDataType(name), DataType::kBOOL);
    EXPECT_TRUE(hasWildcard(engine_.getTensorShape(name)) || std::string(name) == "kept") << name;
    for (const auto& context : contexts_) {
      if (hasWildcard(context->getTensorShape(name)))
        tensor.allocator = std::make_unique<GrowingOutput>(engine_);
      bytes = std::max(bytes, context->getMaxOutputSize(name));
    }
    ASSERT_GT(bytes, 0) << name;
    if (!tensor.allocator)
      tensor.memory = TestMemory(engine_, nullptr, bytes, engine_.getTensorLocation(name));
    for (const auto& context : contexts_) {
      ASSERT_TRUE(tensor.allocator ? context->setOutputAllocator(name, tensor.allocator.get())
                                   : context->setTensorAddress(name, tensor.memory.data()));
    }
  }

  ICudaEngine& engine_;
  std::vector<std::unique_ptr<IExecutionContext>> contexts_;
  std::map<std::string, Tensor> tensors_;
  int64_t largest_[2] = {};
};

// The bytes of images [batch, 3, 2, width] as vectors of four channels: element (n, c, p) is
// n + 1 where c is 1, else 0.
std::vector<float> imagesOf(int64_t batch, int64_t width, float factor = 1) {
  std::vector<float> stored(static_cast<size_t>(batch * 2 * width * 4));
  for (int64_t n = 0; n < batch; ++n)
    for (int64_t p = 0; p < 2 * width; ++p)
      stored[static_cast<size_t>((n * 2 * width + p) * 4 + 1)] = factor * static_cast<float>(n + 1);
  return stored;
}

void expectServed(Server& server, size_t profile, int64_t batch, int64_t width, int64_t rows) {
  SCOPED_TRACE(testing::Message() << "profile " << profile << ", batch " << batch);
  ASSERT_TRUE(server.serve(profile, Dims4(batch, 3, 2, width), imagesOf(batch, width), rows));
  EXPECT_THAT(listOf(server.shapeOf(profile, "y")), ElementsAre(batch, 3, 2, width));
  EXPECT_THAT(server.read<float>("y", batch * 2 * width * 4),
              ElementsAreArray(imagesOf(batch, width, 2)));
  EXPECT_THAT(listOf(server.shapeOf(profile, "top")), ElementsAre(rows));
  std::vector<float> top;
  for (int64_t i = 0; i < rows; ++i) top.push_back(10.f * static_cast<float>(i));
  EXPECT_EQ(server.read<float>("top", rows), top);
  EXPECT_EQ(server.read<int64_t>("kept", 1)[0], 2 * rows);
  EXPECT_NE(server.addressOf(profile, "kept"), nullptr);
  EXPECT_THAT(listOf(server.shapeOf(profile, "places")), ElementsAre(2, batch));
  std::vector<int64_t> places;
  for (int64_t i = 0; i < batch; ++i) places.push_back(i);
  places.resize(static_cast<size_t>(2 * batch), 1);
  EXPECT_EQ(server.read<int64_t>("places", 2 * batch), places);
}

TEST(TritonCalls, ServeRequestsFromAContextForEachProfile) {
  ServedModel client;
  client.config->setFlag(BuilderFlag::kVERSION_COMPATIBLE);
  const std::unique_ptr<IHostMemory> plan(
      client.builder->buildSerializedNetwork(*client.network, *client.config));
  ASSERT_TRUE(plan) << client.logger.errors.back();
  ASSERT_FALSE(client.runtime->getEngineHostCodeAllowed());
  client.runtime->setEngineHostCodeAllowed(true);
  EXPECT_EQ(client.runtime->getNbDLACores(), 0);
  TestRecorder recorder;
  client.runtime->setErrorRecorder(&recorder);
  for (const Strategy strategy : {Strategy::kSTATIC, Strategy::kON_PROFILE_CHANGE}) {
    const std::unique_ptr<ICudaEngine> engine(
        client.runtime->deserializeCudaEngine(plan->data(), plan->size()));
    ASSERT_TRUE(engine);
    Server server(*engine, strategy);
    expectServed(server, 0, 1, 4, 1);
    expectServed(server, 1, 16, 1, 8);
    expectServed(server, 0, 4, 8, 4);
    expectServed(server, 1, 2, 4, 3);
    EXPECT_EQ(recorder.getNbErrors(), 0) << recorder.getErrorDesc(0);

    // What a profile does not allow fails that request alone.
    EXPECT_FALSE(server.serve(0, Dims4(5, 3, 2, 4), imagesOf(5, 4), 1));
    EXPECT_FALSE(server.serve(0, Dims4(4, 3, 2, 4), imagesOf(4, 4), 5));
    EXPECT_EQ(recorder.getNbErrors(), 2);
    EXPECT_THAT(recorder.getErrorDesc(1), HasSubstr("element 0 is 5 and profile 0 allows 1 to 4"));
    recorder.clear();
    expectServed(server, 0, 2, 4, 2);
  }
  client.runtime->setErrorRecorder(nullptr);
  EXPECT_EQ(recorder.references, 0);
}

TEST(TritonCalls, PlansThatCannotBeServedAreRefusedInWords) {
  ServedModel client;
  client.runtime->setDLACore(0);
  EXPECT_THAT(
      client.logger.errors.empty() ? client.logger.warnings.back() : client.logger.errors.back(),
      HasSubstr("DLA"));
  EXPECT_FALSE(client.runtime->deserializeCudaEngine("no plan", 7));
  const auto engine = client.build();
  ASSERT_TRUE(engine);
  const std::unique_ptr<IExecutionContext> context(engine->createExecutionContext());
  EXPECT_FALSE(context->setOptimizationProfileAsync(2, nullptr));
  EXPECT_THAT(client.logger.errors.back(), HasSubstr("profile 2"));
  EXPECT_FALSE(context->setTensorAddress("", nullptr)) << "as of a tensor without a binding";
}

}  // namespace
}  // namespace camshaft::api
