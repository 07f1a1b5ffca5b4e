// Builds y = relu(x) + x call by call and runs it, as a TensorRT sample would.
#include <NvInfer.h>

#include <cstdio>
#include <memory>

class Logger : public nvinfer1::ILogger {
  void log(Severity severity, const char* message) noexcept override {
    if (severity <= Severity::kWARNING) std::fprintf(stderr, "%s\n", message);
  }
};

int main() {
  Logger logger;
  std::unique_ptr<nvinfer1::IBuilder> builder(nvinfer1::createInferBuilder(logger));
  std::unique_ptr<nvinfer1::INetworkDefinition> network(builder->createNetworkV2(0));
  nvinfer1::ITensor* x = network->addInput("x", nvinfer1::DataType::kFLOAT, nvinfer1::Dims2{2, 2});
  nvinfer1::ITensor* relu =
      network->addActivation(*x, nvinfer1::ActivationType::kRELU)->getOutput(0);
  nvinfer1::ITensor* y =
      network->addElementWise(*relu, *x, nvinfer1::ElementWiseOperation::kSUM)->getOutput(0);
  y->setName("y");
  network->markOutput(*y);
  std::unique_ptr<nvinfer1::IBuilderConfig> config(builder->createBuilderConfig());
  config->setDefaultDeviceType(nvinfer1::DeviceType::kCPU);  // its tensors are in host memory
  std::unique_ptr<nvinfer1::IHostMemory> bytes(builder->buildSerializedNetwork(*network, *config));
  if (!bytes) return 1;

  std::unique_ptr<nvinfer1::IRuntime> runtime(nvinfer1::createInferRuntime(logger));
  std::unique_ptr<nvinfer1::ICudaEngine> engine(
      runtime->deserializeCudaEngine(bytes->data(), bytes->size()));
  std::unique_ptr<nvinfer1::IExecutionContext> context(engine->createExecutionContext());
  float in[4] = {-1, 2, -3, 4}, out[4] = {};
  context->setTensorAddress("x", in);
  context->setTensorAddress("y", out);
  if (!context->enqueueV3(nullptr)) return 1;
  const float expected[4] = {-1, 4, -3, 8};
  for (int i = 0; i < 4; ++i)
    if (out[i] != expected[i]) return 1;
  std::puts("ok");
  return 0;
}
