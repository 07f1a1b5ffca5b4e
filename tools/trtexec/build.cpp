#include "build.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <stdexcept>

#include "CamshaftFiles.h"
#include "NvOnnxParser.h"
#include "files.h"
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

DataType typeNamed(const std::string& name) {
  static const std::map<std::string, DataType> kTypes = {
      {"fp32", DataType::kFLOAT},  {"fp16", DataType::kHALF},   {"bf16", DataType::kBF16},
      {"int8", DataType::kINT8},   {"int32", DataType::kINT32}, {"int64", DataType::kINT64},
      {"uint8", DataType::kUINT8}, {"bool", DataType::kBOOL}};
  return kTypes.at(name);
}

// The entry of this layer, else that of "*", else null.
template <class Map>
const typename Map::mapped_type* entryOf(const Map& map, const std::string& layer) {
  auto entry = map.find(layer);
  if (entry == map.end()) entry = map.find("*");
  return entry == map.end() ? nullptr : &entry->second;
}

void setLayerTypes(const Options& options, INetworkDefinition& network) {
  if (options.layerPrecisions.empty() && options.layerOutputTypes.empty()) return;
  for (int32_t i = 0; i < network.getNbLayers(); ++i) {
    ILayer& layer = *network.getLayer(i);
    if (const std::string* type = entryOf(options.layerPrecisions, layer.getName()))
      layer.setPrecision(typeNamed(*type));
    if (const auto* types = entryOf(options.layerOutputTypes, layer.getName()))
      for (int32_t output = 0; output < layer.getNbOutputs(); ++output)
        layer.setOutputType(
            output,
            typeNamed((*types)[std::min<size_t>(static_cast<size_t>(output), types->size() - 1)]));
  }
}

// As trtexec does: one type per tensor, or one for all.
template <class Get>
void setTypes(const std::vector<std::string>& types, int32_t count, const char* flag, Get get) {
  if (types.empty()) return;
  if (types.size() != 1 && types.size() != static_cast<size_t>(count))
    throw std::runtime_error(std::string(flag) + " lists " + std::to_string(types.size()) +
                             " tensors where the network has " + std::to_string(count));
  for (int32_t i = 0; i < count; ++i)
    get(i)->setType(typeNamed(types[types.size() == 1 ? 0 : static_cast<size_t>(i)]));
}

void setPrecision(const Options& options, INetworkDefinition& network, IBuilderConfig& config) {
  if (options.noTF32) config.clearFlag(BuilderFlag::kTF32);
  if (options.fp16) config.setFlag(BuilderFlag::kFP16);
  if (options.bf16) config.setFlag(BuilderFlag::kBF16);
  if (options.precisionConstraints == "prefer")
    config.setFlag(BuilderFlag::kPREFER_PRECISION_CONSTRAINTS);
  if (options.precisionConstraints == "obey")
    config.setFlag(BuilderFlag::kOBEY_PRECISION_CONSTRAINTS);
  setLayerTypes(options, network);
  setTypes(options.inputTypes, network.getNbInputs(), "--inputIOFormats",
           [&](int32_t i) { return network.getInput(i); });
  setTypes(options.outputTypes, network.getNbOutputs(), "--outputIOFormats",
           [&](int32_t i) { return network.getOutput(i); });
}

// What others have put into the file meanwhile is kept. An engine is worth more than its timings:
// where they cannot be written, that is a warning.
void saveTimings(const Options& options, ITimingCache& timings, ConsoleLogger& log) {
  class Warnings : public ILogger {
   public:
    explicit Warnings(ConsoleLogger& log) : log_(log) {}
    void log(Severity severity, const char* message) noexcept override {
      log_.log(std::max(severity, Severity::kWARNING), message);
    }

   private:
    ConsoleLogger& log_;
  } warnings(log);
  if (!camshaft::saveTimingCache(options.timingCacheFile.c_str(), timings, warnings))
    log.warning("The timing cache was not saved: the next build measures again.");
}

std::unique_ptr<ITimingCache> loadTimings(const Options& options, IBuilderConfig& config) {
  if (options.timingCacheFile.empty()) return nullptr;
  std::vector<char> bytes;
  if (std::filesystem::exists(options.timingCacheFile)) bytes = readFile(options.timingCacheFile);
  std::unique_ptr<ITimingCache> timings(config.createTimingCache(bytes.data(), bytes.size()));
  if (!timings)
    throw std::runtime_error("--timingCacheFile=" + options.timingCacheFile +
                             " is no timing cache that can be used");
  config.setTimingCache(*timings, false);
  return timings;
}

}  // namespace

std::vector<char> buildEngine(const Options& options, ConsoleLogger& log) {
  const std::unique_ptr<IBuilder> builder(createInferBuilder(log));
  const uint32_t typing =
      1u << static_cast<uint32_t>(NetworkDefinitionCreationFlag::kSTRONGLY_TYPED);
  const std::unique_ptr<INetworkDefinition> network(
      builder->createNetworkV2(options.stronglyTyped ? typing : 0));
  const std::unique_ptr<nvonnxparser::IParser> parser(nvonnxparser::createParser(*network, log));
  log.info("Start parsing network model.");
  auto start = Clock::now();
  if (!parser->parseFromFile(options.onnx.c_str(), static_cast<int>(ILogger::Severity::kINFO)))
    throw std::runtime_error("");
  log.info("Finished parsing network model. Parse time: " + std::to_string(secondsSince(start)));

  const std::unique_ptr<IBuilderConfig> config(builder->createBuilderConfig());
  if (options.cpu) config->setDefaultDeviceType(DeviceType::kCPU);
  config->setComputeCapability(options.computeCapability);
  for (const std::string& pass : options.disabledPasses)
    if (!config->setPassEnabled(pass.c_str(), false)) throw std::runtime_error("");
  config->setGraphFolder(options.graphFolder.c_str());
  config->setBuilderOptimizationLevel(options.optimizationLevel);
  if (options.maxAuxStreams) config->setMaxAuxStreams(*options.maxAuxStreams);
  config->setProfilingVerbosity(verbosityOf(options.profilingVerbosity));
  setPrecision(options, *network, *config);
  setPools(options, *config);
  addProfiles(options, *builder, *config);

  const std::unique_ptr<ITimingCache> timings = loadTimings(options, *config);
  ProgressBar bar;
  if (isatty(STDERR_FILENO) && !options.verbose) config->setProgressMonitor(&bar);

  start = Clock::now();
  const std::unique_ptr<IHostMemory> engine(builder->buildSerializedNetwork(*network, *config));
  if (!engine) throw std::runtime_error("");
  log.info("Engine built in " + std::to_string(secondsSince(start)) + " sec.");
  if (timings) saveTimings(options, *timings, log);
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
