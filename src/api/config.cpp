#include "api/config.h"

#include <algorithm>
#include <limits>

#include "api/engine.h"
#include "compiler/compile.h"

namespace camshaft::api {

using namespace nvinfer1;

void BuilderConfig::reset() noexcept {
  flags_ = 1u << static_cast<uint32_t>(BuilderFlag::kTF32);
  device_ = DeviceType::kGPU;
  computeCapability_ = 0;
  disabledPasses_.clear();
  graphFolder_.clear();
  level_ = 3;
  avgTiming_ = 1;
  maxAuxStreams_ = 7;
  verbosity_ = ProfilingVerbosity::kLAYER_NAMES_ONLY;
  monitor_ = nullptr;
  selector_ = nullptr;
  calibrator_ = nullptr;
  calibrationProfile_ = nullptr;
  calibrationShapes_.reset();
  tacticSources_ = kAllTacticSources;
  maxNbTactics_ = -1;
  hardware_ = HardwareCompatibilityLevel::kNONE;
  capability_ = EngineCapability::kSTANDARD;
  platform_ = RuntimePlatform::kSAME_AS_BUILD;
  pluginLibraries_.clear();
  layerDevices_.clear();
  tiling_ = TilingOptimizationLevel::kNONE;
  l2Limit_ = -1;
  profileStream_ = nullptr;
  quantizationFlags_ = 0;
  previewFeatures_ = kDefaultPreviewFeatures;
  pools_.fill(std::numeric_limits<std::size_t>::max());
  pools_[static_cast<size_t>(MemoryPoolType::kTACTIC_SHARED_MEMORY)] = size_t{1} << 30;
  profiles_.clear();
  timings_ = nullptr;
  timingsView_ = {};
}

namespace {

// Runs a setter, whose failure leaves everything as it was.
template <class F>
void attempt(const Reporter& reporter, F&& set) noexcept {
  guarded(reporter, false, [&] {
    set();
    return true;
  });
}

template <class Flag>
uint32_t bitOf(Flag flag, const char* what) {
  requireKnown(flag, what);
  return 1u << static_cast<uint32_t>(flag);
}
uint32_t bitOf(BuilderFlag flag) { return bitOf(flag, "builder flag"); }
uint32_t bitOf(QuantizationFlag flag) { return bitOf(flag, "quantisation flag"); }
uint32_t bitOf(PreviewFeature feature) { return bitOf(feature, "preview feature"); }

}  // namespace

void BuilderConfig::clearFlag(BuilderFlag flag) noexcept {
  attempt(reporter_, [&] { flags_ &= ~bitOf(flag); });
}

void BuilderConfig::setFlag(BuilderFlag flag) noexcept {
  attempt(reporter_, [&] { flags_ |= bitOf(flag); });
}

bool BuilderConfig::getFlag(BuilderFlag flag) const noexcept {
  return guarded(reporter_, false, [&] { return (flags_ & bitOf(flag)) != 0; });
}

void BuilderConfig::setQuantizationFlags(QuantizationFlags flags) noexcept {
  quantizationFlags_ = flags;
}

QuantizationFlags BuilderConfig::getQuantizationFlags() const noexcept {
  return quantizationFlags_;
}

void BuilderConfig::clearQuantizationFlag(QuantizationFlag flag) noexcept {
  attempt(reporter_, [&] { quantizationFlags_ &= ~bitOf(flag); });
}

void BuilderConfig::setQuantizationFlag(QuantizationFlag flag) noexcept {
  attempt(reporter_, [&] { quantizationFlags_ |= bitOf(flag); });
}

bool BuilderConfig::getQuantizationFlag(QuantizationFlag flag) const noexcept {
  return guarded(reporter_, false, [&] { return (quantizationFlags_ & bitOf(flag)) != 0; });
}

void BuilderConfig::setPreviewFeature(PreviewFeature feature, bool enable) noexcept {
  attempt(reporter_, [&] {
    const uint32_t bit = bitOf(feature);
    previewFeatures_ = enable ? previewFeatures_ | bit : previewFeatures_ & ~bit;
  });
}

bool BuilderConfig::getPreviewFeature(PreviewFeature feature) const noexcept {
  return guarded(reporter_, false, [&] { return (previewFeatures_ & bitOf(feature)) != 0; });
}

bool BuilderConfig::setTacticSources(TacticSources sources) noexcept {
  return guarded(reporter_, false, [&] {
    if ((sources & ~kAllTacticSources) != 0)
      fail(ErrorKind::kInvalidArgument,
           "setTacticSources was given bits of no source: the sources ", "are bits 0 to ",
           EnumMax<TacticSource>() - 1);
    tacticSources_ = sources;
    return true;
  });
}

void BuilderConfig::setMaxNbTactics(int32_t count) noexcept {
  attempt(reporter_, [&] {
    if (count < 1 && count != -1)
      fail(ErrorKind::kInvalidArgument,
           "the number of tactics to time must be 1 or more, or -1 for all, not ", count);
    maxNbTactics_ = count;
  });
}

void BuilderConfig::setHardwareCompatibilityLevel(HardwareCompatibilityLevel level) noexcept {
  attempt(reporter_, [&] {
    requireKnown(level, "level of hardware compatibility");
    hardware_ = level;
  });
}

void BuilderConfig::setEngineCapability(EngineCapability capability) noexcept {
  attempt(reporter_, [&] {
    requireKnown(capability, "capability of engines");
    capability_ = capability;
  });
}

void BuilderConfig::setRuntimePlatform(RuntimePlatform platform) noexcept {
  attempt(reporter_, [&] {
    requireKnown(platform, "platform");
    platform_ = platform;
  });
}

void BuilderConfig::setPluginsToSerialize(const char* const* paths, int32_t count) noexcept {
  attempt(reporter_, [&] {
    if (count < 0 || (count > 0 && !paths))
      fail(ErrorKind::kInvalidArgument, "setPluginsToSerialize was given no list of ", count,
           " paths");
    std::vector<std::string> libraries;
    for (int32_t i = 0; i < count; ++i) {
      if (!paths[i] || !*paths[i])
        fail(ErrorKind::kInvalidArgument, "path ", i, " of setPluginsToSerialize is empty");
      if (std::ranges::find(libraries, paths[i]) != libraries.end())
        fail(ErrorKind::kInvalidArgument, "setPluginsToSerialize was given '", paths[i],
             "' twice; name each library once");
      libraries.emplace_back(paths[i]);
    }
    pluginLibraries_ = std::move(libraries);
  });
}

const char* BuilderConfig::getPluginToSerialize(int32_t index) const noexcept {
  return guarded<const char*>(reporter_, nullptr, [&] {
    if (index < 0 || index >= getNbPluginsToSerialize())
      fail(ErrorKind::kInvalidArgument, "there is no library ", index, " to serialise; ",
           getNbPluginsToSerialize(), " were set");
    return pluginLibraries_[static_cast<size_t>(index)].c_str();
  });
}

void BuilderConfig::setDeviceType(const ILayer* layer, DeviceType device) noexcept {
  attempt(reporter_, [&] {
    if (!layer) fail(ErrorKind::kInvalidArgument, "setDeviceType was given no layer");
    requireKnown(device, "type of device");
    layerDevices_[layer] = device;
  });
}

DeviceType BuilderConfig::getDeviceType(const ILayer* layer) const noexcept {
  const auto it = layerDevices_.find(layer);
  return it == layerDevices_.end() ? device_ : it->second;
}

void BuilderConfig::setDLACore(int32_t core) noexcept {
  if (core != getDLACore())
    reporter_.warning(str("setDLACore(", core, ") changes nothing: there is no DLA here"));
}

bool BuilderConfig::setTilingOptimizationLevel(TilingOptimizationLevel level) noexcept {
  return guarded(reporter_, false, [&] {
    requireKnown(level, "level of tiling");
    tiling_ = level;
    return true;
  });
}

bool BuilderConfig::setL2LimitForTiling(int64_t bytes) noexcept {
  return guarded(reporter_, false, [&] {
    if (bytes < -1) fail(ErrorKind::kInvalidArgument, "a cache cannot have ", bytes, " bytes");
    l2Limit_ = bytes;
    return true;
  });
}

void BuilderConfig::setDefaultDeviceType(DeviceType device) noexcept {
  attempt(reporter_, [&] {
    requireKnown(device, "type of device");
    device_ = device;
  });
}

void BuilderConfig::setProfilingVerbosity(ProfilingVerbosity verbosity) noexcept {
  attempt(reporter_, [&] {
    requireKnown(verbosity, "profiling verbosity");
    verbosity_ = verbosity;
  });
}

void BuilderConfig::setComputeCapability(int32_t capability) noexcept {
  constexpr int32_t kOldest = 75;
  attempt(reporter_, [&] {
    if (capability != 0 && (capability < kOldest || capability > 999))
      fail(ErrorKind::kInvalidArgument, "the compute capability must be 10 * major + minor, ",
           kOldest, " or more, not ", capability);
    computeCapability_ = capability;
  });
}

bool BuilderConfig::setPassEnabled(const char* pass, bool enabled) noexcept {
  return guarded(reporter_, false, [&] {
    const std::string_view name = pass ? pass : "";
    const std::vector<std::string_view> known = passNames();
    if (std::find(known.begin(), known.end(), name) == known.end())
      fail(ErrorKind::kInvalidArgument, "there is no pass '", name, "'; the passes are ",
           join(std::set(known.begin(), known.end()), ", "));
    if (enabled)
      disabledPasses_.erase(std::string(name));
    else
      disabledPasses_.emplace(name);
    return true;
  });
}

bool BuilderConfig::isPassEnabled(const char* pass) const noexcept {
  return !disabledPasses_.contains(std::string_view(pass ? pass : ""));
}

void BuilderConfig::setGraphFolder(const char* folder) noexcept {
  attempt(reporter_, [&] { graphFolder_ = folder ? folder : ""; });
}

void BuilderConfig::setBuilderOptimizationLevel(int32_t level) noexcept {
  attempt(reporter_, [&] {
    if (level < 0 || level > 5)
      fail(ErrorKind::kInvalidArgument, "the optimisation level must be 0 to 5, not ", level);
    level_ = level;
  });
}

void BuilderConfig::setMaxAuxStreams(int32_t streams) noexcept {
  attempt(reporter_, [&] {
    if (streams < 0)
      fail(ErrorKind::kInvalidArgument, "there cannot be ", streams, " auxiliary streams");
    maxAuxStreams_ = streams;
  });
}

void BuilderConfig::setAvgTimingIterations(int32_t iterations) noexcept {
  attempt(reporter_, [&] {
    if (iterations < 1)
      fail(ErrorKind::kInvalidArgument, "at least 1 timing iteration is needed, not ", iterations);
    avgTiming_ = iterations;
  });
}

void BuilderConfig::setMemoryPoolLimit(MemoryPoolType pool, std::size_t size) noexcept {
  attempt(reporter_, [&] {
    requireKnown(pool, "memory pool");
    pools_[static_cast<size_t>(pool)] = size;
  });
}

std::size_t BuilderConfig::getMemoryPoolLimit(MemoryPoolType pool) const noexcept {
  return guarded(reporter_, size_t{0}, [&] {
    requireKnown(pool, "memory pool");
    return pools_[static_cast<size_t>(pool)];
  });
}

bool BuilderConfig::setCalibrationProfile(const IOptimizationProfile* profile) noexcept {
  return guarded(reporter_, false, [&] {
    if (profile && !profile->isValid())
      fail(ErrorKind::kInvalidArgument,
           "the calibration profile is incomplete: every input in it needs min <= opt <= max of "
           "equal rank");
    calibrationShapes_.reset();
    if (profile) calibrationShapes_ = static_cast<const OptimizationProfile*>(profile)->profile();
    calibrationProfile_ = profile;
    return true;
  });
}

int32_t BuilderConfig::addOptimizationProfile(const IOptimizationProfile* profile) noexcept {
  return guarded(reporter_, int32_t{-1}, [&] {
    if (!profile) fail(ErrorKind::kInvalidArgument, "addOptimizationProfile was given no profile");
    if (!profile->isValid())
      fail(ErrorKind::kInvalidArgument,
           "the profile is incomplete: every input in it needs min <= opt <= max of equal rank");
    profiles_.push_back(static_cast<const OptimizationProfile*>(profile)->profile());
    return static_cast<int32_t>(profiles_.size()) - 1;
  });
}

ITimingCache* BuilderConfig::createTimingCache(const void* blob, std::size_t size) const noexcept {
  return guarded<ITimingCache*>(reporter_, nullptr, [&] {
    return new TimingCacheView({static_cast<const std::byte*>(blob), blob ? size : 0}, reporter_);
  });
}

bool BuilderConfig::setTimingCache(const ITimingCache& cache, bool) noexcept {
  // Builds add what they measure, so the borrowed cache is written to, as the interface says.
  const auto& view = static_cast<const TimingCacheView&>(cache);
  timings_ = view.share();
  timingsView_ = view.link();
  return true;
}

}  // namespace camshaft::api
