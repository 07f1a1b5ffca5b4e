// ONNX models that were tampered with, through the public parser and builder: a model is refused in
// words or becomes an engine that runs; nothing crashes.
#include <gtest/gtest.h>

#include <memory>
#include <random>

#include "NvInfer.h"
#include "NvOnnxParser.h"
#include "testing/onnx_model.h"

namespace camshaft {
namespace {

using onnx::TestModel;
using Random = std::mt19937;

struct Quiet : nvinfer1::ILogger {
  void log(Severity severity, const char* message) noexcept override {
    if (severity <= Severity::kERROR) last = message;
  }
  std::string last;
};

// What the parser says about a model; builds an engine when it says nothing.
std::string verdictOn(const std::string& bytes) {
  Quiet logger;
  const std::unique_ptr<nvinfer1::IBuilder> builder(nvinfer1::createInferBuilder(logger));
  const std::unique_ptr<nvinfer1::INetworkDefinition> network(builder->createNetworkV2(0));
  const std::unique_ptr<nvonnxparser::IParser> parser(nvonnxparser::createParser(*network, logger));
  if (!parser->parse(bytes.data(), bytes.size())) {
    std::string all;
    for (int i = 0; i < parser->getNbErrors(); ++i)
      all += std::string(parser->getError(i)->desc()) + "\n";
    return all.empty() ? "refused without a word" : all;
  }
  const std::unique_ptr<nvinfer1::IBuilderConfig> config(builder->createBuilderConfig());
  config->setDefaultDeviceType(nvinfer1::DeviceType::kCPU);
  config->setBuilderOptimizationLevel(0);
  const std::unique_ptr<nvinfer1::IHostMemory> engine(
      builder->buildSerializedNetwork(*network, *config));
  return engine ? "" : logger.last.empty() ? "refused without a word" : logger.last;
}

// Shape arithmetic, constants, attributes, a branch and several outputs.
std::string soundModel() {
  const onnx::Message branch = onnx::Message()
                                   .message(1, onnx::TestNode{"Exp", {"f"}, {"inner"}}.encode())
                                   .message(12, onnx::Message().bytes(1, "inner"));
  return TestModel()
      .input("x", {"n", 3, 4, 4})
      .floats("w", {2, 3, 1, 1}, {1, 2, 3, 4, 5, 6})
      .floats("m", {8, 2}, std::vector<float>(16, 0.5f))
      .integers("shape", {0, -1, 8})
      .integers("yes", {1})
      .node({"Conv", {"x", "w"}, {"c"}, {{"kernel_shape", std::vector<int64_t>{1, 1}}}, "conv"})
      .node({"Relu", {"c"}, {"r"}, {}, "relu"})
      .node({"Reshape", {"r", "shape"}, {"f"}, {}, "reshape"})
      .node({"MatMul", {"f", "m"}, {"p"}, {}, "product"})
      .node({"Softmax", {"p"}, {"s"}, {{"axis", int64_t{-1}}}, "softmax"})
      .node({"Cast", {"yes"}, {"always"}, {{"to", int64_t{9}}}, "cast"})
      .node({"If", {"always"}, {"b"}, {{"then_branch", branch}, {"else_branch", branch}}, "if"})
      .output("s")
      .output("b")
      .bytes();
}

TEST(HostileModel, TheSoundOneBuilds) { EXPECT_EQ(verdictOn(soundModel()), ""); }

TEST(HostileModel, EveryPrefixIsRefusedOrBuilt) {
  const std::string good = soundModel();
  for (size_t length = 0; length < good.size(); length += 3)
    EXPECT_NE(verdictOn(good.substr(0, length)), "refused without a word") << "prefix " << length;
}

TEST(HostileModel, ChangedBytesAreRefusedOrBuilt) {
  const std::string good = soundModel();
  int refused = 0;
  constexpr int kRounds = 1500;
  for (int round = 0; round < kRounds; ++round) {
    Random random(round);
    std::string bytes = good;
    for (uint32_t changes = 1 + random() % 3; changes > 0; --changes) {
      char& byte = bytes[random() % bytes.size()];
      byte = random() % 2 ? static_cast<char>(random())
                          : static_cast<char>(byte ^ (1 << random() % 8));
    }
    const std::string verdict = verdictOn(bytes);
    EXPECT_NE(verdict, "refused without a word") << "round " << round;
    refused += !verdict.empty();
  }
  EXPECT_GT(refused, kRounds / 4);
  EXPECT_LT(refused, kRounds);
}

}  // namespace
}  // namespace camshaft
