// One engine for batches of any size up to 32: sizes that are -1 in the network get a range from an
// optimisation profile, and each run says which size it has.
//
//   g++ -std=c++17 dynamic_shapes.cpp -I../../include -L../../build/lib -lcamshaft

#include "sample.h"

using namespace nvinfer1;

int main() {
  Logger logger;
  std::unique_ptr<IBuilder> builder(createInferBuilder(logger));
  std::unique_ptr<INetworkDefinition> network(builder->createNetworkV2(0));
  std::vector<std::vector<float>> weights;
  addPerceptron(*network, weights, -1);

  std::unique_ptr<IBuilderConfig> config(builder->createBuilderConfig());
  config->setDefaultDeviceType(DeviceType::kCPU);  // its tensors are in host memory
  // Kernels are chosen for the optimum; every size from the least to the most works.
  IOptimizationProfile* profile = builder->createOptimizationProfile();
  profile->setDimensions("x", OptProfileSelector::kMIN, Dims2(1, 64));
  profile->setDimensions("x", OptProfileSelector::kOPT, Dims2(8, 64));
  profile->setDimensions("x", OptProfileSelector::kMAX, Dims2(32, 64));
  config->addOptimizationProfile(profile);
  std::unique_ptr<IHostMemory> plan(builder->buildSerializedNetwork(*network, *config));
  require(plan != nullptr, "buildSerializedNetwork");

  std::unique_ptr<IRuntime> runtime(createInferRuntime(logger));
  std::unique_ptr<ICudaEngine> engine(runtime->deserializeCudaEngine(plan->data(), plan->size()));
  std::unique_ptr<IExecutionContext> context(engine->createExecutionContext());
  for (const int64_t batch : {1, 8, 32}) {
    require(context->setInputShape("x", Dims2(batch, 64)), "setInputShape");
    const Dims shape = context->getTensorShape("y");  // follows from the input's
    std::vector<float> in(batch * 64, 0.5F), out(countOf(shape));
    context->setTensorAddress("x", in.data());
    context->setTensorAddress("y", out.data());
    require(context->enqueueV3(nullptr), "enqueueV3");
    std::printf("batch %2d: y is [%d, %d], y[0][0] = %.4f\n", static_cast<int>(batch),
                static_cast<int>(shape.d[0]), static_cast<int>(shape.d[1]), out[0]);
    require(shape.d[0] == batch, "the output has as many rows");
  }

  std::printf("a batch of 33 is refused:\n");
  require(!context->setInputShape("x", Dims2(33, 64)), "the profile ends at 32");
}
