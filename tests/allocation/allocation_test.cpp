// No memory at the n-th allocation, n = 1, 2, 3, ...: parsing, building, loading and running three
// models leave a sentence each time, nothing leaks, and the same objects work when asked again.
//
// A sample of all n is tried; CAMSHAFT_ALLOCATIONS=all tries every one.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "NvInfer.h"
#include "NvOnnxParser.h"
#include "allocation/failing_allocator.h"
#include "testing/onnx_model.h"

namespace camshaft::allocation {
namespace {

using namespace nvinfer1;
using nvinfer1::DataType;  // not the one of the library inside
using nvinfer1::Dims;
using onnx::Message;
using onnx::TestModel;
using onnx::TestNode;

// Keeps the last error without asking for memory.
class Log : public ILogger {
 public:
  void log(Severity severity, const char* message) noexcept override {
    if (severity > Severity::kERROR) return;
    std::strncpy(last, message, sizeof last - 1);
    ++errors;
  }
  char last[400] = {};
  int errors = 0;
};

struct Model {
  const char* name;
  std::string bytes;
  Dims shape;  // of x
};

std::string dense() {
  return TestModel()
      .input("x", {"n", 16})
      .floats("w", {16, 8}, std::vector<float>(128, 0.25f))
      .floats("b", {8}, std::vector<float>(8, 0.5f))
      .node({"MatMul", {"x", "w"}, {"p"}, {}, "product"})
      .node({"Add", {"p", "b"}, {"s"}, {}, "sum"})
      .node({"Relu", {"s"}, {"r"}, {}, "relu"})
      .node({"Softmax", {"r"}, {"y"}, {{"axis", int64_t{-1}}}, "softmax"})
      .output("y")
      .bytes();
}

std::string picture() {
  return TestModel()
      .input("x", {1, 3, "h", 8})
      .floats("w", {4, 3, 3, 3}, std::vector<float>(108, 0.125f))
      .node({"Conv", {"x", "w"}, {"c"}, {{"pads", std::vector<int64_t>{1, 1, 1, 1}}}, "conv"})
      .node({"Relu", {"c"}, {"r"}, {}, "relu"})
      .node({"MaxPool", {"r"}, {"m"}, {{"kernel_shape", std::vector<int64_t>{2, 2}}}, "pool"})
      .node({"Transpose", {"m"}, {"t"}, {{"perm", std::vector<int64_t>{0, 2, 3, 1}}}, "turn"})
      .node({"ReduceMean", {"t"}, {"y"}, {{"axes", std::vector<int64_t>{1, 2}}}, "mean"})
      .output("y")
      .bytes();
}

// Sizes that the data decides, a branch and a loop.
std::string undecided() {
  const Message then = Message()
                           .message(1, TestNode{"Exp", {"flat"}, {"inner"}, {}, "exp"}.encode())
                           .message(12, Message().bytes(1, "inner"));
  const Message otherwise =
      Message()
          .message(1, TestNode{"Neg", {"flat"}, {"other"}, {}, "neg"}.encode())
          .message(12, Message().bytes(1, "other"));
  return TestModel()
      .input("x", {"n", 4})
      .integers("all", {-1})
      .floats("zero", {}, {0.0f})
      .node({"Reshape", {"x", "all"}, {"flat"}, {}, "flatten"})
      .node({"ReduceSum", {"x"}, {"total"}, {{"keepdims", int64_t{0}}}, "sum"})
      .node({"Greater", {"total", "zero"}, {"positive"}, {}, "compare"})
      .node({"If",
             {"positive"},
             {"branch"},
             {{"then_branch", then}, {"else_branch", otherwise}},
             "if"})
      .node({"NonZero", {"branch"}, {"where"}, {}, "nonzero"})
      .node({"Shape", {"where"}, {"y"}, {}, "count"})
      .output("branch")
      .output("y")
      .bytes();
}

const std::vector<Model>& models() {
  static const std::vector<Model> kModels = {{"dense", dense(), {2, {3, 16}}},
                                             {"picture", picture(), {4, {1, 3, 6, 8}}},
                                             {"undecided", undecided(), {2, {5, 4}}}};
  return kModels;
}

// Everything but the objects under test is made before memory runs out.
struct Output : IOutputAllocator {
  void* reallocateOutput(const char*, void*, uint64_t size, uint64_t) noexcept override {
    return size > sizeof memory ? nullptr : onDevice ? onDevice : memory;
  }
  void notifyShape(const char*, const Dims& dims) noexcept override { shape = dims; }
  alignas(64) char memory[4096];
  void* onDevice = nullptr;
  Dims shape{};
};

class Steps {
 public:
  explicit Steps(const Model& model) : model_(model), input_(4096, 1.0f) {}

  bool parse() {
    if (!builder_) builder_.reset(createInferBuilder(log));
    if (!builder_) return false;
    config_.reset(builder_->createBuilderConfig());
    network_.reset(builder_->createNetworkV2(0));
    if (!config_ || !network_) return false;
    config_->setDefaultDeviceType(device);
    config_->setBuilderOptimizationLevel(level);
    const std::unique_ptr<nvonnxparser::IParser> parser(nvonnxparser::createParser(*network_, log));
    return parser && parser->parse(model_.bytes.data(), model_.bytes.size());
  }
  // Layer by layer, each once more where memory ran out for it: a network stays usable.
  bool describe() {
    if (!builder_) builder_.reset(createInferBuilder(log));
    bool worked = builder_ != nullptr;
    const auto insist = [&](auto make) {
      if (auto* made = worked ? make() : nullptr) return made;
      worked = false;
      failNoMore();
      return make();
    };
    if (!builder_) return false;
    network_.reset(insist([&] { return builder_->createNetworkV2(0); }));
    static const std::vector<float> kWeights(108, 0.5f);
    const Weights weights{DataType::kFLOAT, kWeights.data(), 108};
    const Weights none{DataType::kFLOAT, nullptr, 0};
    INetworkDefinition& n = *network_;
    ITensor* x = insist([&] { return n.addInput("x", DataType::kFLOAT, Dims4(-1, 3, 8, 8)); });
    auto* conv = insist([&] { return n.addConvolutionNd(*x, 4, DimsHW(3, 3), weights, none); });
    auto* relu =
        insist([&] { return n.addActivation(*conv->getOutput(0), ActivationType::kRELU); });
    auto* best = insist([&] { return n.addTopK(*relu->getOutput(0), TopKOperation::kMAX, 1, 2); });
    auto* shape = insist([&] { return n.addShape(*best->getOutput(0)); });
    n.markOutput(*best->getOutput(0));
    n.markOutput(*shape->getOutput(0));
    worked = worked && n.getNbOutputs() == 2;
    failNoMore();
    n.markOutput(*best->getOutput(0));
    n.markOutput(*shape->getOutput(0));
    EXPECT_EQ(n.getNbLayers(), 4);
    EXPECT_EQ(n.getNbOutputs(), 2);
    return worked;
  }
  bool build() {
    file_.reset(builder_->buildSerializedNetwork(*network_, *config_));
    return file_ != nullptr;
  }
  bool load() {
    context_.reset();
    engine_.reset();
    if (!runtime_) runtime_.reset(createInferRuntime(log));
    if (!runtime_ || !runtime_->setMaxThreads(2)) return false;
    engine_.reset(runtime_->deserializeCudaEngine(file_->data(), file_->size()));
    return engine_ != nullptr;
  }
  bool makeContext() {
    context_.reset(engine_->createExecutionContext());
    return context_ != nullptr;
  }
  bool run() {
    if (!context_->setInputShape("x", model_.shape)) return false;
    if (!context_->setInputTensorAddress("x", onDevice_ ? onDevice_ : input_.data())) return false;
    for (int32_t i = 1; i < engine_->getNbIOTensors(); ++i)
      if (!context_->setOutputAllocator(engine_->getIOTensorName(i), &outputs_[i])) return false;
    for (Output& output : outputs_) std::memset(output.memory, 0xCD, sizeof output.memory);
    return context_->enqueueV3(nullptr);
  }
  std::string result() const {
    std::string all;
    for (const Output& output : outputs_) all.append(output.memory, sizeof output.memory);
    return all;
  }
  std::unique_ptr<ICudaEngine> takeEngine() { return std::move(engine_); }
  void useDevice(IDevice& memory, IGpuAllocator& allocator) {
    runtime_->setGpuAllocator(&allocator);
    onDevice_ = memory.allocate(static_cast<int64_t>(input_.size() * sizeof(float)));
    for (Output& output : outputs_) output.onDevice = memory.allocate(sizeof output.memory);
  }
  void releaseDevice(IDevice& memory) {
    memory.release(onDevice_);
    for (Output& output : outputs_) memory.release(output.onDevice);
  }
  void end() {
    context_.reset();
    engine_.reset();
  }
  Log log;
  DeviceType device = DeviceType::kCPU;
  int32_t level = 0;

 private:
  const Model& model_;
  std::vector<float> input_;
  void* onDevice_ = nullptr;
  Output outputs_[4];
  std::unique_ptr<IBuilder> builder_;
  std::unique_ptr<IBuilderConfig> config_;
  std::unique_ptr<INetworkDefinition> network_;
  std::unique_ptr<IHostMemory> file_;
  std::unique_ptr<IRuntime> runtime_;
  std::unique_ptr<ICudaEngine> engine_;
  std::unique_ptr<IExecutionContext> context_;
};

#ifdef CAMSHAFT_EMULATED_LIBRARY
// Memory of the emulated GPU, which runs out as the host's does.
class DeviceAllocator : public IGpuAllocator {
 public:
  explicit DeviceAllocator(IDevice& device) : device_(device) {}
  void* allocate(uint64_t size, uint64_t, AllocatorFlags) noexcept override {
    if (countsAsFailed(Kind::kDevice)) return nullptr;
    ++alive;
    return device_.allocate(static_cast<int64_t>(size));
  }
  bool deallocate(void* memory) noexcept override {
    if (memory) --alive;
    device_.release(memory);
    return true;
  }
  int64_t alive = 0;

 private:
  IDevice& device_;
};
#endif

// Each of the first few hundred, then ever fewer: sites repeat.
int64_t nextAfter(int64_t n, int64_t total) {
  static const bool all = [] {
    const char* wish = std::getenv("CAMSHAFT_ALLOCATIONS");
    return wish && !std::strcmp(wish, "all");
  }();
  constexpr int64_t kEach = 60, kSampled = 120;
  return all || n < kEach ? n + 1 : n + std::max<int64_t>(1, total / kSampled);
}

using Call = bool (Steps::*)();

// Fails the call at its n-th allocation for all n it makes, until it is not reached any more.
void exhaust(Steps& steps, Call call, const char* name, bool onwards) {
  ASSERT_TRUE((steps.*call)()) << name << ": " << steps.log.last;
  failAt(0);
  ASSERT_TRUE((steps.*call)());
  const int64_t total = allocationsSince(), alive = allocationsAlive();
  int64_t survived = 0, tried = 0;
  for (int64_t n = 1; n <= total; n = nextAfter(n, total)) {
    steps.log.errors = 0;
    steps.log.last[0] = '\0';
    failAt(n, onwards);
    const bool ok = (steps.*call)();
    failAt(0);
    ++tried;
    if (ok) {
      ++survived;  // what failed was a convenience
    } else {
      ASSERT_GE(steps.log.errors, 1) << name << " " << n << " failed without a word";
      const std::string text = steps.log.last;
      ASSERT_TRUE(text.find("out of memory") != std::string::npos ||
                  text.find("could not allocate") != std::string::npos)
          << name << " " << n << ": " << text;
      ASSERT_EQ(text.find("bad_alloc"), std::string::npos) << text;
    }
    ASSERT_TRUE((steps.*call)()) << name << " after " << n << ": " << steps.log.last;
    ASSERT_EQ(allocationsAlive(), alive) << name << " leaks where allocation " << n << " fails";
  }
  std::printf("%s: %lld of %lld allocations failed, %lld without harm\n", name,
              static_cast<long long>(tried), static_cast<long long>(total),
              static_cast<long long>(survived));
}

class Allocation : public testing::TestWithParam<bool> {};

TEST_P(Allocation, FailuresAreSentencesAndLeaveNothingBehind) {
  for (const Model& model : models()) {
    SCOPED_TRACE(model.name);
    Steps steps(model);
    ASSERT_TRUE(steps.parse() && steps.build() && steps.load() && steps.makeContext());
    ASSERT_TRUE(steps.run()) << steps.log.last;
    const std::string expected = steps.result();
    ASSERT_NO_FATAL_FAILURE(exhaust(steps, &Steps::describe, "describe", GetParam()));
    ASSERT_NO_FATAL_FAILURE(exhaust(steps, &Steps::parse, "parse", GetParam()));
    ASSERT_NO_FATAL_FAILURE(exhaust(steps, &Steps::build, "build", GetParam()));
    ASSERT_NO_FATAL_FAILURE(exhaust(steps, &Steps::load, "load", GetParam()));
    ASSERT_NO_FATAL_FAILURE(exhaust(steps, &Steps::makeContext, "context", GetParam()));
    ASSERT_NO_FATAL_FAILURE(exhaust(steps, &Steps::run, "run", GetParam()));
    EXPECT_EQ(steps.result(), expected);
  }
}

TEST_P(Allocation, SoAreThoseOfKernelsThatAreTried) {
  Steps steps(models().front());
  steps.level = 3;
  ASSERT_TRUE(steps.parse());
  exhaust(steps, &Steps::build, "tuned build", GetParam());
}

#ifdef CAMSHAFT_EMULATED_LIBRARY
TEST_P(Allocation, SoAreThoseOfTheDevice) {
  ASSERT_EQ(::setenv("CAMSHAFT_CUDA_LIBRARY", CAMSHAFT_EMULATED_LIBRARY, 1), 0);
  for (const Model& model : models()) {
    SCOPED_TRACE(model.name);
    Steps steps(model);
    steps.device = DeviceType::kGPU;
    ASSERT_TRUE(steps.parse() && steps.build()) << steps.log.last;
    ASSERT_TRUE(steps.load()) << steps.log.last;
    const auto plain = steps.takeEngine();
    ASSERT_TRUE(plain->getDevice()) << "the engine was not built for the emulated GPU";
    DeviceAllocator allocator(*plain->getDevice());
    steps.useDevice(*plain->getDevice(), allocator);
    for (int64_t n = 1;; ++n) {
      steps.log.last[0] = '\0';
      failAt(n, GetParam(), Kind::kDevice);
      const bool ok = steps.load() && steps.makeContext() && steps.run();
      const bool reached = allocationsSince() >= n;
      failAt(0);
      if (!reached) {
        EXPECT_TRUE(ok) << steps.log.last;
        EXPECT_GT(n, 1);
        break;
      }
      EXPECT_FALSE(ok) << n;
      EXPECT_NE(std::string(steps.log.last).find("the GPU allocator gave no memory"),
                std::string::npos)
          << n << ": " << steps.log.last;
      EXPECT_EQ(std::string(steps.log.last).find("rebuild"), std::string::npos) << steps.log.last;
      ASSERT_TRUE(steps.load() && steps.makeContext() && steps.run()) << n << steps.log.last;
    }
    steps.end();
    EXPECT_EQ(allocator.alive, 0);
    steps.releaseDevice(*plain->getDevice());
  }
}
#endif

INSTANTIATE_TEST_SUITE_P(Once, Allocation, testing::Values(false));
INSTANTIATE_TEST_SUITE_P(FromThenOn, Allocation, testing::Values(true));

}  // namespace
}  // namespace camshaft::allocation
