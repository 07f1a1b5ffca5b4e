#include "api/config.h"

#include <algorithm>
#include <limits>

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
  profileStream_ = nullptr;
  quantizationFlags_ = 0;
  previewFeatures_ = 0;
  pools_.fill(std::numeric_limits<std::size_t>::max());
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
