// Loads an ONNX image classifier, builds an engine for this machine, runs it once and prints the
// five best classes.
//
//   g++ -std=c++17 classify.cpp -I../../include -L../../build/lib -lcamshaft -o classify
//   ./classify model.onnx [image.f32]        (raw floats in the model's input layout)

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <memory>
#include <numeric>
#include <vector>

#include "NvInfer.h"
#include "NvOnnxParser.h"

using namespace nvinfer1;

class Logger : public ILogger {
  void log(Severity severity, const char* message) noexcept override {
    if (severity <= Severity::kWARNING) std::fprintf(stderr, "%s\n", message);
  }
};

int main(int argc, char** argv) {
  if (argc < 2) return std::fprintf(stderr, "usage: classify model.onnx [image.f32]\n"), 2;
  Logger logger;

  std::unique_ptr<IBuilder> builder(createInferBuilder(logger));
  std::unique_ptr<INetworkDefinition> network(builder->createNetworkV2(0));
  std::unique_ptr<nvonnxparser::IParser> parser(nvonnxparser::createParser(*network, logger));
  if (!parser->parseFromFile(argv[1], static_cast<int>(ILogger::Severity::kWARNING))) return 1;

  // One image at a time, whatever batch the model allows.
  ITensor* input = network->getInput(0);
  Dims shape = input->getDimensions();
  for (int i = 0; i < shape.nbDims; ++i)
    if (shape.d[i] < 0) shape.d[i] = 1;
  input->setDimensions(shape);

  std::unique_ptr<IBuilderConfig> config(builder->createBuilderConfig());
  config->setDefaultDeviceType(DeviceType::kCPU);  // its tensors are in host memory
  std::unique_ptr<IHostMemory> file(builder->buildSerializedNetwork(*network, *config));
  if (!file) return 1;

  std::unique_ptr<IRuntime> runtime(createInferRuntime(logger));
  std::unique_ptr<ICudaEngine> engine(runtime->deserializeCudaEngine(file->data(), file->size()));
  std::unique_ptr<IExecutionContext> context(engine->createExecutionContext());

  const char* outputName = engine->getIOTensorName(engine->getNbIOTensors() - 1);
  const auto count = [](const Dims& d) {
    return std::accumulate(d.d, d.d + d.nbDims, int64_t{1}, std::multiplies<>());
  };
  std::vector<float> image(count(shape), 0.5f), scores(count(context->getTensorShape(outputName)));
  if (argc > 2)
    std::ifstream(argv[2], std::ios::binary)
        .read(reinterpret_cast<char*>(image.data()), image.size() * 4);
  context->setTensorAddress(input->getName(), image.data());
  context->setTensorAddress(outputName, scores.data());
  if (!context->enqueueV3(nullptr)) return 1;

  std::vector<int> order(scores.size());
  std::iota(order.begin(), order.end(), 0);
  const size_t best = std::min<size_t>(5, order.size());
  std::partial_sort(order.begin(), order.begin() + best, order.end(),
                    [&](int a, int b) { return scores[a] > scores[b]; });
  for (size_t i = 0; i < best; ++i) std::printf("class %4d  %9.4f\n", order[i], scores[order[i]]);
}
