// IBuilder, and how to make one.
#include <sys/resource.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <vector>

#include "api/algorithm_selector.h"
#include "api/allocator.h"
#include "api/build_setup.h"
#include "api/calibration.h"
#include "api/config.h"
#include "api/convert.h"
#include "api/engine.h"
#include "api/idle_settings.h"
#include "api/network.h"
#include "api/plugins/loader.h"
#include "api/report.h"
#include "compiler/compile.h"
#include "compiler/refit.h"
#include "engine/engine_file.h"
#include "support/cpu_info.h"
#include "support/mapped_file.h"

namespace camshaft::api {
namespace {

using namespace nvinfer1;

// Hands the compiler's phases to the user's monitor.
class MonitorAdapter : public BuildProgress {
 public:
  explicit MonitorAdapter(IProgressMonitor& monitor) : monitor_(monitor) {}
  void begin(std::string_view phase, std::string_view parent, int steps) override {
    monitor_.phaseStart(std::string(phase).c_str(),
                        parent.empty() ? nullptr : std::string(parent).c_str(), steps);
  }
  bool advance(std::string_view phase, int step) override {
    return monitor_.stepComplete(std::string(phase).c_str(), step);
  }
  // Called from destructors, also of those that memory ran out for.
  void end(std::string_view phase) override {
    try {
      monitor_.phaseFinish(std::string(phase).c_str());
    } catch (const std::bad_alloc&) {
      monitor_.phaseFinish("");
    }
  }

 private:
  IProgressMonitor& monitor_;
};

// Flags that would change types in a network that keeps its own.
void refuseTypesOf(const INetworkDefinition& network, const BuilderConfig& config) {
  static constexpr std::pair<BuilderFlag, std::string_view> kTyping[] = {
      {BuilderFlag::kFP16, "kFP16"},
      {BuilderFlag::kBF16, "kBF16"},
      {BuilderFlag::kINT8, "kINT8"},
      {BuilderFlag::kFP8, "kFP8"},
      {BuilderFlag::kINT4, "kINT4"},
      {BuilderFlag::kFP4, "kFP4"},
      {BuilderFlag::kOBEY_PRECISION_CONSTRAINTS, "kOBEY_PRECISION_CONSTRAINTS"},
      {BuilderFlag::kPREFER_PRECISION_CONSTRAINTS, "kPREFER_PRECISION_CONSTRAINTS"},
  };
  if (!network.getFlag(NetworkDefinitionCreationFlag::kSTRONGLY_TYPED)) return;
  for (const auto& [flag, name] : kTyping)
    if (config.getFlag(flag))
      fail(ErrorKind::kInvalidArgument, "builder flag ", name,
           " cannot be set for a strongly typed network, whose types are its own; clear it");
}

PrecisionRequests requestsOf(const BuilderConfig& config) {
  const bool obeys = config.getFlag(BuilderFlag::kOBEY_PRECISION_CONSTRAINTS);
  const bool prefers = config.getFlag(BuilderFlag::kPREFER_PRECISION_CONSTRAINTS);
  if (obeys && prefers)
    fail(ErrorKind::kInvalidArgument,
         "builder flags kOBEY_PRECISION_CONSTRAINTS and kPREFER_PRECISION_CONSTRAINTS exclude each "
         "other; clear one");
  return obeys     ? PrecisionRequests::kObey
         : prefers ? PrecisionRequests::kPrefer
                   : PrecisionRequests::kIgnore;
}

// An engine is for the machine it is built on, and for this runtime.
void requireHere(const BuilderConfig& config) {
  if (config.getEngineCapability() == EngineCapability::kSAFETY)
    fail(ErrorKind::kUnsupported,
         "engines of EngineCapability::kSAFETY are for certified runtimes, which this is not; use "
         "kSTANDARD");
  if (config.getEngineCapability() == EngineCapability::kDLA_STANDALONE)
    fail(ErrorKind::kUnsupported, "there is no DLA to build for; use EngineCapability::kSTANDARD");
  if (config.getRuntimePlatform() != RuntimePlatform::kSAME_AS_BUILD)
    fail(ErrorKind::kUnsupported,
         "engines for another platform than that of the build are not available; use "
         "RuntimePlatform::kSAME_AS_BUILD");
}

// Layers that are to run where nothing runs are an error, or a warning that says where they do.
void checkDevices(const INetworkDefinition& network, const BuilderConfig& config, const Log& log) {
  const bool mayFallBack = config.getFlag(BuilderFlag::kGPU_FALLBACK);
  const auto refuseDla = [&](const std::string& what) {
    if (!mayFallBack)
      fail(ErrorKind::kUnsupported, what,
           " is to run on DLA, which there is none of; set BuilderFlag::kGPU_FALLBACK or "
           "DeviceType::kGPU");
    log.warning(what, " is to run on DLA, which there is none of, and runs on the GPU");
  };
  if (config.getDefaultDeviceType() == DeviceType::kDLA) refuseDla("the network");
  for (int32_t i = 0; i < network.getNbLayers(); ++i) {
    const ILayer* layer = network.getLayer(i);
    if (!config.isDeviceTypeSet(layer)) continue;
    const DeviceType device = config.getDeviceType(layer);
    if (device == DeviceType::kDLA)
      refuseDla(str("layer '", layer->getName(), "'"));
    else if ((device == DeviceType::kCPU) != (config.getDefaultDeviceType() == DeviceType::kCPU))
      log.warning("layer '", layer->getName(),
                  "' cannot have a device of its own; all run on that of setDefaultDeviceType");
  }
}

GpuRange gpusOf(const BuilderConfig& config) {
  switch (config.getHardwareCompatibilityLevel()) {
    case HardwareCompatibilityLevel::kAMPERE_PLUS:
      return GpuRange::kAmpereAndLater;
    case HardwareCompatibilityLevel::kSAME_COMPUTE_CAPABILITY:
      return GpuRange::kSameCapability;
    default:
      return GpuRange::kThis;
  }
}

// What the tuner is told of timings and candidates.
void setTuning(const BuilderConfig& config, KernelSelector* selector, TuneOptions& options) {
  const auto allows = [&](TacticSource source) {
    return (config.getTacticSources() >> static_cast<uint32_t>(source) & 1) != 0;
  };
  options.optimizationLevel = config.getBuilderOptimizationLevel();
  options.timingRuns = config.getAvgTimingIterations();
  options.mostTactics = std::max(config.getMaxNbTactics(), 0);
  options.timeLayers = config.getProfilingVerbosity() == ProfilingVerbosity::kDETAILED;
  options.allowCublasLt = allows(TacticSource::kCUBLAS_LT) || allows(TacticSource::kCUBLAS);
  options.allowCudnn = allows(TacticSource::kCUDNN);
  options.selector = selector;
  options.timesLayersAlike = config.getFlag(BuilderFlag::kDISABLE_TIMING_CACHE);
  if (options.timesLayersAlike || !config.timings()) return;
  options.timings = config.timings();
  options.keepsChoices = config.getFlag(BuilderFlag::kEDITABLE_TIMING_CACHE);
  options.failsOnUnknownTimes = config.getFlag(BuilderFlag::kERROR_ON_TIMING_CACHE_MISS);
}

// Libraries of plugins go into the engine as they are.
std::vector<PluginLibrary> librariesAt(const std::vector<std::string>& paths) {
  std::vector<PluginLibrary> libraries;
  for (const std::string& path : paths) {
    const MappedFile file = MappedFile::open(path);
    libraries.push_back({std::filesystem::path(path).filename().string(),
                         {file.bytes().begin(), file.bytes().end()}});
  }
  return libraries;
}

int64_t peakMemoryBytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return int64_t{usage.ru_maxrss} << 10;
}

// How the engine is to be refittable; nothing: not at all.
std::optional<RefitRequest> refitRequestOf(const Network& network, const BuilderConfig& config) {
  const bool isIdentical = config.getFlag(BuilderFlag::kREFIT_IDENTICAL);
  const bool isIndividual = config.getFlag(BuilderFlag::kREFIT_INDIVIDUAL);
  const bool isWhole = config.getFlag(BuilderFlag::kREFIT);
  if (isIdentical + isIndividual + isWhole > 1)
    fail(ErrorKind::kInvalidArgument,
         "builder flags kREFIT, kREFIT_IDENTICAL and kREFIT_INDIVIDUAL exclude each other; keep "
         "one");
  // What is stripped comes back as it was, unless more is asked for.
  if (!isWhole && !isIndividual && !isIdentical && !config.getFlag(BuilderFlag::kSTRIP_PLAN))
    return std::nullopt;
  using Weights = RefitRequest::Weights;
  RefitRequest request;
  request.weights = isWhole ? Weights::kAll : isIndividual ? Weights::kMarked : Weights::kIdentical;
  request.marked = network.refittableWeights();
  request.nameOf = [&](const Value& constant) { return network.weightsNameOf(constant); };
  request.constantLayers = network.constantLayers();
  return request;
}

EngineParts partsFor(const IBuilderConfig& config) {
  return {.weights = !config.getFlag(BuilderFlag::kSTRIP_PLAN)};
}

// Pieces of an engine file to a stream of the user's.
class StreamSink {
 public:
  explicit StreamSink(IStreamWriter& writer) : writer_(writer) {}

  void operator()(std::span<const std::byte> piece) {
    while (!piece.empty()) {
      const auto size = static_cast<int64_t>(piece.size());
      const int64_t taken = writer_.write(piece.data(), size);
      if (taken <= 0 || taken > size)
        fail(ErrorKind::kIo, "the stream writer failed after ", done_, " bytes of the engine");
      done_ += taken;
      piece = piece.subspan(static_cast<size_t>(taken));
    }
  }

 private:
  IStreamWriter& writer_;
  int64_t done_ = 0;
};

class Builder final : public Implements<IBuilder>, public BuildSetups {
 public:
  explicit Builder(ILogger* logger) : reporter_(logger) {}

  bool platformHasFastFp16() const noexcept override { return whyUnusable(kGpu).empty(); }
  // On every device: clients export in FP32 where it is denied.
  bool platformHasFastInt8() const noexcept override { return true; }
  bool platformHasTf32() const noexcept override { return whyUnusable(kGpu).empty(); }

  INetworkDefinition* createNetworkV2(NetworkDefinitionCreationFlags flags) noexcept override {
    return guarded<INetworkDefinition*>(reporter_, nullptr, [&] {
      constexpr uint32_t kPlugins =
          1u << static_cast<uint32_t>(NetworkDefinitionCreationFlag::kPREFER_JIT_PYTHON_PLUGINS) |
          1u << static_cast<uint32_t>(NetworkDefinitionCreationFlag::kPREFER_AOT_PYTHON_PLUGINS);
      if (flags & kPlugins)
        fail(ErrorKind::kUnsupported, "networks with Python plugins are not supported yet");
      return new Network(flags, *this, plugins_, reporter_);
    });
  }

  IBuilderConfig* createBuilderConfig() noexcept override {
    return guarded<IBuilderConfig*>(reporter_, nullptr,
                                    [&] { return new BuilderConfig(reporter_); });
  }

  IOptimizationProfile* createOptimizationProfile() noexcept override {
    return guarded<IOptimizationProfile*>(reporter_, nullptr, [&] {
      profiles_.push_back(std::make_unique<OptimizationProfile>(reporter_));
      return profiles_.back().get();
    });
  }

  IHostMemory* buildSerializedNetwork(INetworkDefinition& network,
                                      IBuilderConfig& config) noexcept override {
    return build<IHostMemory*>(network, config, Result::kWritten, nullptr, [&](const Plan& plan) {
      return makeHostMemory(writeEngine(plan, partsFor(config)));
    });
  }
  IHostMemory* buildSerializedNetworkWithKernelText(INetworkDefinition& network,
                                                    IBuilderConfig& config,
                                                    IHostMemory*& kernelText) noexcept override {
    kernelText = nullptr;  // that of plugins written in Python, which there are none of
    return buildSerializedNetwork(network, config);
  }
  bool buildSerializedNetworkToStream(INetworkDefinition& network, IBuilderConfig& config,
                                      IStreamWriter& writer) noexcept override {
    return build(network, config, Result::kWritten, false, [&](const Plan& plan) {
      writeEngine(plan, partsFor(config), StreamSink(writer));
      return true;
    });
  }
  ICudaEngine* buildEngineWithConfig(INetworkDefinition& network,
                                     IBuilderConfig& config) noexcept override {
    return build<ICudaEngine*>(network, config, Result::kRun, nullptr, [&](Plan plan) {
      return new Engine(std::make_shared<LoadedEngine>(asRead(std::move(plan), partsFor(config)),
                                                       wrapperFor(allocator_), loader()),
                        reporter_, ThreadSettings{.most = maxThreads_});
    });
  }

  bool isNetworkSupported(const INetworkDefinition& network,
                          const IBuilderConfig&) const noexcept override {
    return network.getNbOutputs() > 0;
  }
  ILogger* getLogger() const noexcept override { return reporter_.logger(); }
  void setErrorRecorder(IErrorRecorder* recorder) noexcept override {
    reporter_.setRecorder(recorder);
  }
  IErrorRecorder* getErrorRecorder() const noexcept override { return reporter_.recorder(); }
  bool setMaxThreads(int32_t maxThreads) noexcept override {
    return guarded(reporter_, false, [&] {
      if (maxThreads < 1)
        fail(ErrorKind::kInvalidArgument, "setMaxThreads needs at least 1 thread, not ",
             maxThreads);
      maxThreads_ = maxThreads;
      return true;
    });
  }
  int32_t getMaxThreads() const noexcept override { return maxThreads_; }
  void setGpuAllocator(IGpuAllocator* allocator) noexcept override { allocator_ = allocator; }
  // Its own, which looks for creators in the process's too.
  IPluginRegistry& getPluginRegistry() noexcept override { return *plugins_; }
  int32_t getMaxDLABatchSize() const noexcept override { return 0; }  // there is no DLA
  int32_t getNbDLACores() const noexcept override { return 0; }
  void reset() noexcept override {
    maxThreads_ = usableCores();
    allocator_ = nullptr;
  }

 private:
  BuildSetup setup(const Network& network, const BuilderConfig& settings) const override {
    refuseTypesOf(network, settings);
    requireHere(settings);
    checkDevices(network, settings, reporter_.log());
    logIdleSettings(settings, reporter_.log());
    BuildSetup made;
    if (settings.getAlgorithmSelector())
      made.selector = std::make_unique<SelectorAdapter>(
          *settings.getAlgorithmSelector(),
          settings.getFlag(BuilderFlag::kREJECT_EMPTY_ALGORITHMS));
    CompileOptions& options = made.options;
    setTuning(settings, made.selector.get(), options);
    options.device = deviceFor(settings);
    options.computeCapability = settings.getComputeCapability();
    options.disabledPasses = settings.disabledPasses();
    if (*settings.getGraphFolder() != '\0') options.dump = graphsInto(settings.getGraphFolder());
    options.profiles = settings.profiles();
    options.gpus = gpusOf(settings);
    options.threads = maxThreads_;
    options.sideBySide = settings.getMaxAuxStreams() > 0;
    options.profilingVerbosity = static_cast<int>(settings.getProfilingVerbosity());
    options.allowTf32 = settings.getFlag(BuilderFlag::kTF32);
    options.allowF16 = settings.getFlag(BuilderFlag::kFP16);
    options.allowBF16 = settings.getFlag(BuilderFlag::kBF16);
    options.allowI8 = settings.getFlag(BuilderFlag::kINT8);
    options.precisionRequests = requestsOf(settings);
    options.workspaceLimit = static_cast<int64_t>(std::min<std::size_t>(
        settings.getMemoryPoolLimit(MemoryPoolType::kWORKSPACE), DimRange::kUnbounded));
    if (settings.getProgressMonitor())
      made.progress = std::make_unique<MonitorAdapter>(*settings.getProgressMonitor());
    options.progress = made.progress.get();
    options.wrapDevice = wrapperFor(allocator_);
    options.loadPlugin = loader();
    options.log = reporter_.log();
    return made;
  }

  // What becomes of a plan.
  enum class Result { kWritten, kRun };

  Plan planOf(INetworkDefinition& network, IBuilderConfig& config, Result result) const {
    const auto& settings = static_cast<BuilderConfig&>(config);
    const auto& own = static_cast<const Network&>(network);
    BuildSetup made = setup(own, settings);
    std::vector<PluginLibrary> libraries = librariesAt(settings.pluginLibraries());
    const std::optional<RefitRequest> refit = refitRequestOf(own, settings);
    made.options.ranges = rangesFor(own, settings, made.options, refit.has_value());
    made.options.weightsInFile = result == Result::kWritten;
    Plan plan = own.compiled(made.options, refit);
    plan.pluginLibraries = std::move(libraries);
    plan.streamsWeights = settings.getFlag(BuilderFlag::kWEIGHT_STREAMING);
    return plan;
  }

  // use(the plan), or `failure`.
  template <class T, class Use>
  T build(INetworkDefinition& network, IBuilderConfig& config, Result wanted, T failure,
          Use&& use) const noexcept {
    return guarded(
        reporter_, failure,
        [&]() -> T {
          T result = use(planOf(network, config, wanted));
          if (config.getFlag(BuilderFlag::kMONITOR_MEMORY))
            reporter_.log().info("the process had up to ", peakMemoryBytes() >> 20,
                                 " MiB of memory by the end of the build");
          return result;
        },
        OutOfMemory{
            "out of memory while building the engine; a smaller profile or batch needs less"});
  }

  // A GPU when one can be used, and the CPU otherwise, with a line that says why.
  std::string deviceFor(const BuilderConfig& settings) const {
    if (settings.getDefaultDeviceType() == DeviceType::kCPU) return "cpu";
    if (settings.getComputeCapability() != 0) return std::string(kGpu);
    const std::string reason = whyUnusable(kGpu);
    if (reason.empty()) return std::string(kGpu);
    reporter_.log().info("the engine is built for the CPU: ", reason);
    return "cpu";
  }

  Reporter reporter_;
  PluginLoader loader() const { return pluginLoader(plugins_, allocator_, reporter_); }

  std::shared_ptr<PluginRegistry> plugins_ =
      std::make_shared<PluginRegistry>(&globalPluginRegistry());
  IGpuAllocator* allocator_ = nullptr;
  int32_t maxThreads_ = usableCores();
  std::vector<std::unique_ptr<OptimizationProfile>> profiles_;
};

}  // namespace
}  // namespace camshaft::api

extern "C" CAMSHAFT_API void* createInferBuilder_INTERNAL(void* logger, int32_t version) noexcept {
  auto* typed = static_cast<nvinfer1::ILogger*>(logger);
  return camshaft::api::createForTensorRt<nvinfer1::IBuilder>(
      typed, version, [&] { return new camshaft::api::Builder(typed); });
}
