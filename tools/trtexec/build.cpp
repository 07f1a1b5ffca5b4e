#include "build.h"

#include <unistd.h>

#include <chrono>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "NvOnnxParser.h"
#include "progress.h"

namespace trtexec {
namespace {

using namespace nvinfer1;
using Clock = std::chrono::steady_clock;

double secondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

Dims toDims(const std::string& name, const std::vector<int64_t>& sizes) {
  if (sizes.size() > static_cast<size_t>(Dims::MAX_DIMS))
    throw std::runtime_error("input '" + name + "' is given more than 8 dimensions");
  Dims dims{};
  dims.nbDims = static_cast<int32_t>(sizes.size());
  for (size_t i = 0; i < sizes.size(); ++i) dims.d[i] = sizes[i];
  return dims;
}

void addProfiles(const Options& options, IBuilder& builder, IBuilderConfig& config) {
  for (const ProfileShapes& shapes : options.profiles) {
    IOptimizationProfile* profile = builder.createOptimizationProfile();
    const std::pair<const ShapeMap*, OptProfileSelector> parts[] = {
        {&shapes.min, OptProfileSelector::kMIN},
        {&shapes.opt, OptProfileSelector::kOPT},
        {&shapes.max, OptProfileSelector::kMAX}};
    for (const auto& [map, select] : parts)
      for (const auto& [name, sizes] : *map)
        if (!profile->setDimensions(name.c_str(), select, toDims(name, sizes)))
          throw std::runtime_error("");
    if (config.addOptimizationProfile(profile) < 0) throw std::runtime_error("");
  }
}

void setPools(const Options& options, IBuilderConfig& config) {
  const auto workspace = options.memPoolMiB.find("workspace");
  if (workspace != options.memPoolMiB.end())
    config.setMemoryPoolLimit(MemoryPoolType::kWORKSPACE,
                              static_cast<size_t>(workspace->second * 1048576));
}

ProfilingVerbosity verbosityOf(const std::string& name) {
  return name == "detailed" ? ProfilingVerbosity::kDETAILED
         : name == "none"   ? ProfilingVerbosity::kNONE
                            : ProfilingVerbosity::kLAYER_NAMES_ONLY;
}

}  // namespace

std::vector<char> readFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read '" + path + "'");
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<char> buildEngine(const Options& options, ConsoleLogger& log) {
  const std::unique_ptr<IBuilder> builder(createInferBuilder(log));
  const std::unique_ptr<INetworkDefinition> network(builder->createNetworkV2(0));
  const std::unique_ptr<nvonnxparser::IParser> parser(nvonnxparser::createParser(*network, log));
  log.info("Start parsing network model.");
  auto start = Clock::now();
  if (!parser->parseFromFile(options.onnx.c_str(), static_cast<int>(ILogger::Severity::kINFO)))
    throw std::runtime_error("");
  log.info("Finished parsing network model. Parse time: " + std::to_string(secondsSince(start)));

  const std::unique_ptr<IBuilderConfig> config(builder->createBuilderConfig());
  config->setBuilderOptimizationLevel(options.optimizationLevel);
  config->setProfilingVerbosity(verbosityOf(options.profilingVerbosity));
  if (options.noTF32) config->clearFlag(BuilderFlag::kTF32);
  setPools(options, *config);
  addProfiles(options, *builder, *config);

  std::unique_ptr<ITimingCache> timings;
  if (!options.timingCacheFile.empty()) {
    std::vector<char> bytes;
    if (std::ifstream(options.timingCacheFile).good()) bytes = readFile(options.timingCacheFile);
    timings.reset(config->createTimingCache(bytes.data(), bytes.size()));
    if (!timings) throw std::runtime_error("");
    config->setTimingCache(*timings, false);
  }
  ProgressBar bar;
  if (isatty(STDERR_FILENO) && !options.verbose) config->setProgressMonitor(&bar);

  start = Clock::now();
  const std::unique_ptr<IHostMemory> engine(builder->buildSerializedNetwork(*network, *config));
  if (!engine) throw std::runtime_error("");
  log.info("Engine built in " + std::to_string(secondsSince(start)) + " sec.");
  if (timings) {
    const std::unique_ptr<IHostMemory> bytes(timings->serialize());
    writeFile(options.timingCacheFile, {static_cast<const char*>(bytes->data()), bytes->size()});
  }
  const auto* data = static_cast<const char*>(engine->data());
  return {data, data + engine->size()};
}

std::unique_ptr<ICudaEngine> loadEngine(IRuntime& runtime, const Options& options,
                                        const std::vector<char>& built, ConsoleLogger& log) {
  const auto start = Clock::now();
  std::unique_ptr<ICudaEngine> engine(
      options.loadEngine.empty()
          ? runtime.deserializeCudaEngine(built.data(), built.size())
          : runtime.deserializeCudaEngineFromFile(options.loadEngine.c_str()));
  if (!engine) throw std::runtime_error("");
  log.info("Engine deserialized in " + std::to_string(secondsSince(start)) + " sec.");
  return engine;
}

}  // namespace trtexec
