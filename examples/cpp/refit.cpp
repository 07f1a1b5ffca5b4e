// New weights for an engine that is built already: a fine-tuned model without a new build. Weights
// go by names; contexts that exist compute with the new ones from the next run on.
//
//   g++ -std=c++17 refit.cpp -I../../include -L../../build/lib -lcamshaft
//   ./refit

#include <cmath>

#include "sample.h"

using namespace nvinfer1;

namespace {

constexpr int64_t kIn = 3, kOut = 2;

// y = x weight + bias, whose weights have names.
std::unique_ptr<IHostMemory> buildLinear(IBuilder& builder, const std::vector<float>& weight,
                                         const std::vector<float>& bias) {
  std::unique_ptr<INetworkDefinition> network(builder.createNetworkV2(0));
  ITensor* x = network->addInput("x", DataType::kFLOAT, Dims2(1, kIn));
  ITensor* matrix = network->addConstant(Dims2(kIn, kOut), weightsOf(weight))->getOutput(0);
  ITensor* row = network->addConstant(Dims2(1, kOut), weightsOf(bias))->getOutput(0);
  network->setWeightsName(weightsOf(weight), "linear.weight");
  network->setWeightsName(weightsOf(bias), "linear.bias");
  ITensor* product =
      network->addMatrixMultiply(*x, MatrixOperation::kNONE, *matrix, MatrixOperation::kNONE)
          ->getOutput(0);
  ITensor* y = network->addElementWise(*product, *row, ElementWiseOperation::kSUM)->getOutput(0);
  y->setName("y");
  network->markOutput(*y);

  std::unique_ptr<IBuilderConfig> config(builder.createBuilderConfig());
  config->setDefaultDeviceType(DeviceType::kCPU);  // its tensors are in host memory
  config->setFlag(BuilderFlag::kREFIT);
  return std::unique_ptr<IHostMemory>(builder.buildSerializedNetwork(*network, *config));
}

void printAllWeights(IRefitter& refitter) {
  std::vector<const char*> names(static_cast<size_t>(refitter.getAllWeights(0, nullptr)));
  refitter.getAllWeights(static_cast<int32_t>(names.size()), names.data());
  for (const char* name : names)
    std::printf("  %s: %d elements\n", name,
                static_cast<int>(refitter.getWeightsPrototype(name).count));
}

void runAndCheck(IExecutionContext& context, const std::vector<float>& weight,
                 const std::vector<float>& bias) {
  const std::vector<float> x = {1, 2, 3};
  std::vector<float> y(kOut);
  context.setInputTensorAddress("x", x.data());
  context.setTensorAddress("y", y.data());
  require(context.enqueueV3(nullptr), "enqueueV3");
  std::printf("y = [%g, %g]\n", y[0], y[1]);
  for (size_t column = 0; column < kOut; ++column) {
    float expected = bias[column];
    for (size_t row = 0; row < kIn; ++row) expected += x[row] * weight[row * kOut + column];
    require(std::fabs(y[column] - expected) < 1e-5F, "y is x times the weights, and the bias");
  }
}

}  // namespace

int main() {
  Logger logger;
  const std::vector<float> weight = {1, 0, 0, 1, 1, 1}, bias = {0, 0};
  std::unique_ptr<IBuilder> builder(createInferBuilder(logger));
  std::unique_ptr<IHostMemory> plan = buildLinear(*builder, weight, bias);
  require(plan != nullptr, "buildSerializedNetwork");
  std::unique_ptr<IRuntime> runtime(createInferRuntime(logger));
  std::unique_ptr<ICudaEngine> engine(runtime->deserializeCudaEngine(plan->data(), plan->size()));
  std::unique_ptr<IExecutionContext> context(engine->createExecutionContext());
  runAndCheck(*context, weight, bias);

  std::unique_ptr<IRefitter> refitter(createInferRefitter(*engine, logger));
  printAllWeights(*refitter);
  const std::vector<float> tunedWeight = {2, 0, 0, 2, 1, -1}, tunedBias = {0.5F, -0.5F};
  require(refitter->setNamedWeights("linear.weight", weightsOf(tunedWeight)) &&
              refitter->setNamedWeights("linear.bias", weightsOf(tunedBias)),
          "setNamedWeights");
  require(refitter->getMissingWeights(0, nullptr) == 0, "no weights are missing");
  require(refitter->refitCudaEngine(), "refitCudaEngine");
  runAndCheck(*context, tunedWeight, tunedBias);
}
