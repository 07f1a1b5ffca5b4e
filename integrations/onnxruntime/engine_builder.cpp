#include "onnxruntime/engine_builder.h"

#include <filesystem>
#include <fstream>
#include <iterator>

#include "CamshaftFiles.h"
#include "NvOnnxParser.h"
#include "support/cpu_info.h"
#include "support/error.h"
#include "support/freed_memory.h"
#include "support/hash.h"
#include "support/scratch_file.h"

namespace camshaft::ort {

namespace {

using nvinfer1::DeviceType;

// With the reason that the log has just been told.
[[noreturn]] void failWithReason(std::string_view what) {
  const std::string reason = Logger::takeError();
  fail(ErrorKind::kUnsupported, "Camshaft ", what, reason.empty() ? "" : ": ", reason);
}

void makeFolder(const std::string& folder) {
  std::error_code problem;
  std::filesystem::create_directories(folder, problem);
  if (problem)
    fail(ErrorKind::kIo, "the folder '", folder, "' cannot be made: ", problem.message());
}

// An engine on its way to a file that has no name and is gone with the engine.
class ScratchWriter : public nvinfer1::IStreamWriter {
 public:
  int64_t write(const void* data, int64_t size) override {
    const std::span bytes(static_cast<const std::byte*>(data), static_cast<size_t>(size));
    isGood_ = isGood_ && writeAt(file_, bytes, written_);
    written_ += bytes.size();
    return isGood_ ? size : -1;
  }
  bool isGood() const { return isGood_; }
  std::string path() const { return str("/proc/self/fd/", file_.get()); }

 private:
  FileDescriptor file_ = openScratchFile();
  bool isGood_ = file_.get() >= 0;
  size_t written_ = 0;
};

std::string contentsOf(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

bool holds(const ShapeRange& range, std::span<const int64_t> shape) {
  if (shape.size() != range.min.size()) return false;
  for (size_t i = 0; i < shape.size(); ++i)
    if (shape[i] < range.min[i] || shape[i] > range.max[i]) return false;
  return true;
}

EngineBuilder::EngineBuilder(const Options& options, Logger& logger)
    : options_(options), logger_(logger), runtime_(nvinfer1::createInferRuntime(logger)) {
  if (!runtime_) failWithReason("has no runtime");
  if (options.threads > 0) runtime_->setMaxThreads(options.threads);
  if (!options.engineCache.empty()) makeFolder(options.engineCache);
}

void EngineBuilder::releaseFreed() { std::call_once(released_, giveBackFreedMemory); }

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

// The network of a subgraph and how it is built. Gone before the engine is loaded, since it holds
// weights of its own.
struct EngineBuilder::Build {
  std::unique_ptr<nvinfer1::IBuilder> builder;
  std::unique_ptr<nvinfer1::INetworkDefinition> network;
  std::unique_ptr<nvinfer1::IBuilderConfig> config;
};

EngineBuilder::Build EngineBuilder::prepare(const Subgraph& subgraph,
                                            std::span<const Weight> weights,
                                            std::span<const ShapeRange> ranges) {
  Build build{std::unique_ptr<nvinfer1::IBuilder>(nvinfer1::createInferBuilder(logger_)), {}, {}};
  if (!build.builder) failWithReason("has no builder");
  const settings::BuildSettings& wanted = options_.build;
  wanted.loadPlugins(build.builder->getPluginRegistry());
  build.network.reset(build.builder->createNetworkV2(wanted.networkFlags()));
  const std::unique_ptr<nvonnxparser::IParser> parser(
      nvonnxparser::createParser(*build.network, logger_));
  wanted.setUp(*parser);
  bool parsed = parser->loadModelProto(subgraph.bytes.data(), subgraph.bytes.size());
  for (const Weight& weight : weights)
    parsed = parsed && parser->loadInitializer(weight.name.c_str(), weight.data, weight.size);
  if (!parsed || !parser->parseModelProto()) failWithReason("cannot read a subgraph");

  build.config.reset(build.builder->createBuilderConfig());
  const settings::BuildTarget target{*build.builder, *build.network, *build.config,
                                     [](bool worked) {
                                       if (!worked)
                                         failWithReason("cannot build with these settings");
                                     }};
  target.config.setDefaultDeviceType(options_.onGpu.value_or(false) ? DeviceType::kGPU
                                                                    : DeviceType::kCPU);
  wanted.apply(target);
  useTimingCache(target.config);
  if (ranges.empty()) return build;
  settings::Profile profile;
  for (size_t i = 0; i < ranges.size(); ++i) profile[subgraph.inputs[i].name] = ranges[i];
  addProfile(profile, target);
  return build;
}

// False, with a warning, where the file cannot be written: the engine can still be had in memory.
bool EngineBuilder::buildInto(const std::string& path, const Build& build) {
  const std::unique_ptr<IFileWriter> writer(createFileWriter(path.c_str(), logger_));
  const bool isBuilt = writer && build.builder->buildSerializedNetworkToStream(
                                     *build.network, *build.config, *writer);
  if (isBuilt && writer->commit()) return true;
  if (writer && writer->isGood() && !isBuilt) failWithReason("cannot build a subgraph");
  logger_.write(kOrtWarning, str("the engine is not kept: ", Logger::takeError()));
  return false;
}

// An engine that is kept nowhere is mapped from a file all the same: ONNX Runtime has its weights
// until the session is made, and memory is to hold them once. Null where there is no room for one.
std::unique_ptr<nvinfer1::ICudaEngine> EngineBuilder::buildInScratchFile(Build& build) {
  ScratchWriter writer;
  if (!writer.isGood()) return nullptr;
  const bool isBuilt =
      build.builder->buildSerializedNetworkToStream(*build.network, *build.config, writer);
  if (!isBuilt && writer.isGood()) failWithReason("cannot build a subgraph");
  if (!isBuilt) return nullptr;
  build = {};
  return std::unique_ptr<nvinfer1::ICudaEngine>(
      runtime_->deserializeCudaEngineFromFile(writer.path().c_str()));
}

std::unique_ptr<nvinfer1::ICudaEngine> EngineBuilder::build(const Subgraph& subgraph,
                                                            std::span<const Weight> weights,
                                                            std::span<const ShapeRange> ranges,
                                                            bool keep) {
  const std::scoped_lock lock(building_);
  Logger::takeError();
  Build build = prepare(subgraph, weights, ranges);
  const std::string path = keep ? pathOf(subgraph) : "";
  std::unique_ptr<nvinfer1::ICudaEngine> engine;
  if (!path.empty() && buildInto(path, build)) {
    build = {};
    // Mapped from its file, an engine shares its memory with other processes.
    engine.reset(runtime_->deserializeCudaEngineFromFile(path.c_str()));
  } else {
    engine = buildInScratchFile(build);
    if (!engine && build.builder)
      engine.reset(build.builder->buildEngineWithConfig(*build.network, *build.config));
  }
  if (!engine) failWithReason("cannot build a subgraph");
  saveTimingCache();
  return engine;
}

}  // namespace camshaft::ort
