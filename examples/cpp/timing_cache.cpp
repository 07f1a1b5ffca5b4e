// Most of a build is measuring kernels. A timing cache remembers the measurements, so that the next
// build of this or a similar network skips them.
//
//   g++ -std=c++17 timing_cache.cpp -I../../include -L../../build/lib -lcamshaft
//   ./timing_cache [FILE]

#include <chrono>
#include <fstream>
#include <iterator>

#include "CamshaftFiles.h"
#include "sample.h"

using namespace nvinfer1;

namespace {

// Builds with what the file knows, adds to it what was measured, and tells how long it took.
double build(IBuilder& builder, const INetworkDefinition& network, const char* path,
             Logger& logger) {
  std::ifstream file(path, std::ios::binary);
  const std::vector<char> known{std::istreambuf_iterator<char>(file), {}};
  std::unique_ptr<IBuilderConfig> config(builder.createBuilderConfig());
  config->setDefaultDeviceType(DeviceType::kCPU);
  std::unique_ptr<ITimingCache> cache(config->createTimingCache(known.data(), known.size()));
  require(cache && config->setTimingCache(*cache, false), "setTimingCache");

  const auto begin = std::chrono::steady_clock::now();
  std::unique_ptr<IHostMemory> plan(
      builder.buildSerializedNetwork(const_cast<INetworkDefinition&>(network), *config));
  require(plan != nullptr, "buildSerializedNetwork");
  const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - begin;

  require(camshaft::saveTimingCache(path, *cache, logger), "saveTimingCache");
  return time.count();
}

}  // namespace

int main(int argc, char** argv) {
  const std::string path = argc > 1 ? argv[1] : "timing_cache.bin";
  Logger logger;
  std::unique_ptr<IBuilder> builder(createInferBuilder(logger));
  std::unique_ptr<INetworkDefinition> network(builder->createNetworkV2(0));
  std::vector<std::vector<float>> weights;
  addPerceptron(*network, weights, 256, 2);

  const double first = build(*builder, *network, path.c_str(), logger);
  const double second = build(*builder, *network, path.c_str(), logger);
  std::printf("first build %.1f ms, second build %.1f ms\n", first, second);
  const std::ifstream written(path, std::ios::binary | std::ios::ate);
  require(written.good(), "the file was written");
}
