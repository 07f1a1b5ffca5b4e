#include "onnxruntime/engine_builder.h"

#include <filesystem>
#include <fstream>
#include <iterator>

#include "CamshaftFiles.h"
#include "NvOnnxParser.h"
#include "support/cpu_info.h"
#include "support/error.h"
#include "support/hash.h"

namespace camshaft::ort {

namespace {

using nvinfer1::BuilderFlag;
using nvinfer1::DeviceType;
using nvinfer1::OptProfileSelector;

// With the reason that the log has just been told.
[[noreturn]] void failWithReason(std::string_view what) {
  const std::string reason = Logger::takeError();
  fail(ErrorKind::kUnsupported, "Camshaft ", what, reason.empty() ? "" : ": ", reason);
}

nvinfer1::Dims dimsOf(std::span<const int64_t> shape) {
  nvinfer1::Dims dims{static_cast<int32_t>(shape.size()), {}};
  std::ranges::copy(shape, dims.d);
  return dims;
}

void makeFolder(const std::string& folder) {
  std::error_code problem;
  std::filesystem::create_directories(folder, problem);
  if (problem)
    fail(ErrorKind::kIo, "the folder '", folder, "' cannot be made: ", problem.message());
}

std::string contentsOf(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

bool ShapeRange::holds(std::span<const int64_t> shape) const {
  if (shape.size() != min.size()) return false;
  for (size_t i = 0; i < shape.size(); ++i)
    if (shape[i] < min[i] || shape[i] > max[i]) return false;
  return true;
}

EngineBuilder::EngineBuilder(const Options& options, Logger& logger)
    : options_(options), logger_(logger), runtime_(nvinfer1::createInferRuntime(logger)) {
  if (!runtime_) failWithReason("has no runtime");
  if (options.threads > 0) runtime_->setMaxThreads(options.threads);
  if (!options.engineCache.empty()) makeFolder(options.engineCache);
}

std::string EngineBuilder::nameOf(const SubgraphModel& model) const {
  Hasher hasher;
  hasher.add(model.bytes).add(options_.buildKey()).add(describeCpu());
  hasher.add(getInferLibVersion());
  for (const Weight& weight : model.weights)
    hasher.add(weight.name)
        .add(weight.size)
        .update({static_cast<const std::byte*>(weight.data), weight.size});
  char text[17];
  std::snprintf(text, sizeof(text), "%016llx", static_cast<unsigned long long>(hasher.digest()));
  return text;
}

std::string EngineBuilder::pathOf(const Subgraph& subgraph) const {
  return options_.engineCache.empty() ? ""
                                      : str(options_.engineCache, "/", subgraph.name, ".engine");
}

std::unique_ptr<nvinfer1::ICudaEngine> EngineBuilder::load(const Subgraph& subgraph) {
  const std::string path = pathOf(subgraph);
  if (path.empty() || !std::filesystem::exists(path)) return nullptr;
  std::unique_ptr<nvinfer1::ICudaEngine> engine(
      runtime_->deserializeCudaEngineFromFile(path.c_str()));
  if (!engine) logger_.write(kOrtWarning, str("'", path, "' is built anew: ", Logger::takeError()));
  return engine;
}

void EngineBuilder::setUp(nvinfer1::IBuilderConfig& config) {
  config.setDefaultDeviceType(options_.onGpu.value_or(false) ? DeviceType::kGPU : DeviceType::kCPU);
  config.setBuilderOptimizationLevel(options_.optimizationLevel);
  if (options_.precision == Precision::kF32) config.clearFlag(BuilderFlag::kTF32);
  if (options_.precision == Precision::kFp16 || options_.precision == Precision::kBest)
    config.setFlag(BuilderFlag::kFP16);
  if (options_.precision == Precision::kBf16 || options_.precision == Precision::kBest)
    config.setFlag(BuilderFlag::kBF16);
  useTimingCache(config);
}

// The first build reads the file, all add to what it has read.
void EngineBuilder::useTimingCache(nvinfer1::IBuilderConfig& config) {
  if (!timings_) {
    const std::string blob = contentsOf(options_.timingCache);
    timings_.reset(config.createTimingCache(blob.data(), blob.size()));
    if (!timings_) {
      logger_.write(kOrtWarning, str("the timing cache '", options_.timingCache,
                                     "' is not used: ", Logger::takeError()));
      timings_.reset(config.createTimingCache(nullptr, 0));
    }
  }
  config.setTimingCache(*timings_, false);
}

void EngineBuilder::saveTimingCache() {
  if (options_.timingCache.empty()) return;
  if (!camshaft::saveTimingCache(options_.timingCache.c_str(), *timings_, logger_))
    logger_.write(kOrtWarning, Logger::takeError());
}

std::unique_ptr<nvinfer1::ICudaEngine> EngineBuilder::build(const Subgraph& subgraph,
                                                            std::span<const Weight> weights,
                                                            std::span<const ShapeRange> ranges,
                                                            bool keep) {
  const std::scoped_lock lock(building_);
  Logger::takeError();
  const std::unique_ptr<nvinfer1::IBuilder> builder(nvinfer1::createInferBuilder(logger_));
  if (!builder) failWithReason("has no builder");
  if (options_.threads > 0) builder->setMaxThreads(options_.threads);
  const std::unique_ptr<nvinfer1::INetworkDefinition> network(builder->createNetworkV2(0));
  const std::unique_ptr<nvonnxparser::IParser> parser(
      nvonnxparser::createParser(*network, logger_));
  bool parsed = parser->loadModelProto(subgraph.bytes.data(), subgraph.bytes.size());
  for (const Weight& weight : weights)
    parsed = parsed && parser->loadInitializer(weight.name.c_str(), weight.data, weight.size);
  if (!parsed || !parser->parseModelProto()) failWithReason("cannot read a subgraph");

  const std::unique_ptr<nvinfer1::IBuilderConfig> config(builder->createBuilderConfig());
  setUp(*config);
  if (!ranges.empty()) {
    nvinfer1::IOptimizationProfile* profile = builder->createOptimizationProfile();
    for (size_t i = 0; i < ranges.size(); ++i) {
      const char* name = subgraph.inputs[i].name.c_str();
      profile->setDimensions(name, OptProfileSelector::kMIN, dimsOf(ranges[i].min));
      profile->setDimensions(name, OptProfileSelector::kOPT, dimsOf(ranges[i].opt));
      profile->setDimensions(name, OptProfileSelector::kMAX, dimsOf(ranges[i].max));
    }
    if (config->addOptimizationProfile(profile) < 0) failWithReason("cannot use the profile");
  }

  const std::string path = keep ? pathOf(subgraph) : "";
  std::unique_ptr<nvinfer1::ICudaEngine> engine;
  if (path.empty()) {
    engine.reset(builder->buildEngineWithConfig(*network, *config));
  } else {
    const std::unique_ptr<nvinfer1::IHostMemory> file(
        builder->buildSerializedNetwork(*network, *config));
    if (!file) failWithReason("cannot build a subgraph");
    // Mapped from its file, an engine shares its memory with other processes.
    if (writeFile(path.c_str(), file->data(), file->size(), logger_)) {
      engine.reset(runtime_->deserializeCudaEngineFromFile(path.c_str()));
    } else {
      logger_.write(kOrtWarning, str("the engine is not kept: ", Logger::takeError()));
      engine.reset(runtime_->deserializeCudaEngine(file->data(), file->size()));
    }
  }
  if (!engine) failWithReason("cannot build a subgraph");
  saveTimingCache();
  return engine;
}

}  // namespace camshaft::ort
