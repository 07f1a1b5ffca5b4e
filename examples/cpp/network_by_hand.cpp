// A network layer by layer, without a model file: y = relu(x * w + b), compared with a plain loop.
//
//   g++ -std=c++17 network_by_hand.cpp -I../../include -L../../build/lib -lcamshaft

#include <algorithm>
#include <cmath>

#include "sample.h"

using namespace nvinfer1;

int main() {
  constexpr int64_t kRows = 2, kIn = 3, kOut = 4;
  Logger logger;
  std::unique_ptr<IBuilder> builder(createInferBuilder(logger));
  std::unique_ptr<INetworkDefinition> network(builder->createNetworkV2(0));

  // Tensors connect layers: every add... returns a layer, whose outputs the next ones read. The
  // network points to weights and does not copy them.
  const std::vector<float> w{1, -2, 3, 0, 2, 1, -1, 1, 0, 1, 1, -3}, b{0.5F, 0, -1, 2};
  ITensor* x = network->addInput("x", DataType::kFLOAT, Dims2(kRows, kIn));
  ITensor* matrix = network->addConstant(Dims2(kIn, kOut), weightsOf(w))->getOutput(0);
  ITensor* bias = network->addConstant(Dims2(1, kOut), weightsOf(b))->getOutput(0);
  ITensor* product =
      network->addMatrixMultiply(*x, MatrixOperation::kNONE, *matrix, MatrixOperation::kNONE)
          ->getOutput(0);
  ITensor* sum = network->addElementWise(*product, *bias, ElementWiseOperation::kSUM)->getOutput(0);
  IActivationLayer* relu = network->addActivation(*sum, ActivationType::kRELU);
  relu->setName("relu");  // the name that a profiler or the inspector shows
  relu->getOutput(0)->setName("y");
  network->markOutput(*relu->getOutput(0));

  std::unique_ptr<IBuilderConfig> config(builder->createBuilderConfig());
  config->setDefaultDeviceType(DeviceType::kCPU);  // its tensors are in host memory
  std::unique_ptr<IHostMemory> plan(builder->buildSerializedNetwork(*network, *config));
  require(plan != nullptr, "buildSerializedNetwork");

  std::unique_ptr<IRuntime> runtime(createInferRuntime(logger));
  std::unique_ptr<ICudaEngine> engine(runtime->deserializeCudaEngine(plan->data(), plan->size()));
  std::unique_ptr<IExecutionContext> context(engine->createExecutionContext());
  std::vector<float> in{1, 2, 3, -1, 0, 1}, out(kRows * kOut);
  context->setTensorAddress("x", in.data());
  context->setTensorAddress("y", out.data());
  require(context->enqueueV3(nullptr), "enqueueV3");

  for (int64_t i = 0; i < kRows; ++i)
    for (int64_t j = 0; j < kOut; ++j) {
      float wanted = b[j];
      for (int64_t k = 0; k < kIn; ++k) wanted += in[i * kIn + k] * w[k * kOut + j];
      wanted = std::max(wanted, 0.0F);
      std::printf("y[%d][%d] = %5.2f\n", static_cast<int>(i), static_cast<int>(j),
                  out[i * kOut + j]);
      require(std::abs(out[i * kOut + j] - wanted) < 1e-5F, "the result is the loop's");
    }
}
