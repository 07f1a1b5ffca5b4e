#include "api/config.h"

#include <limits>

namespace camshaft::api {

using namespace nvinfer1;

void BuilderConfig::reset() noexcept {
  flags_ = 1u << static_cast<uint32_t>(BuilderFlag::kTF32);
  device_ = DeviceType::kGPU;
  computeCapability_ = 0;
  level_ = 3;
  avgTiming_ = 1;
  maxAuxStreams_ = 7;
  verbosity_ = ProfilingVerbosity::kLAYER_NAMES_ONLY;
  monitor_ = nullptr;
  pools_.fill(std::numeric_limits<std::size_t>::max());
  profiles_.clear();
  timings_ = nullptr;
}

void BuilderConfig::setComputeCapability(int32_t capability) noexcept {
  constexpr int32_t kOldest = 75;
  if (capability != 0 && (capability < kOldest || capability > 999))
    return reporter_.error(ErrorCode::kINVALID_ARGUMENT,
                           str("the compute capability must be 10 * major + minor, ", kOldest,
                               " or more, not ", capability));
  computeCapability_ = capability;
}

void BuilderConfig::setBuilderOptimizationLevel(int32_t level) noexcept {
  if (level < 0 || level > 5)
    return reporter_.error(ErrorCode::kINVALID_ARGUMENT,
                           str("the optimisation level must be 0 to 5, not ", level));
  level_ = level;
}

void BuilderConfig::setMaxAuxStreams(int32_t streams) noexcept {
  if (streams < 0)
    return reporter_.error(ErrorCode::kINVALID_ARGUMENT,
                           str("there cannot be ", streams, " auxiliary streams"));
  maxAuxStreams_ = streams;
}

void BuilderConfig::setAvgTimingIterations(int32_t iterations) noexcept {
  if (iterations < 1)
    return reporter_.error(ErrorCode::kINVALID_ARGUMENT,
                           str("at least 1 timing iteration is needed, not ", iterations));
  avgTiming_ = iterations;
}

void BuilderConfig::setMemoryPoolLimit(MemoryPoolType pool, std::size_t size) noexcept {
  pools_[static_cast<size_t>(pool)] = size;
}

std::size_t BuilderConfig::getMemoryPoolLimit(MemoryPoolType pool) const noexcept {
  return pools_[static_cast<size_t>(pool)];
}

int32_t BuilderConfig::addOptimizationProfile(const IOptimizationProfile* profile) noexcept {
  return guarded(reporter_, int32_t{-1}, [&] {
    if (!profile || !profile->isValid())
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
  timings_ = const_cast<TimingCacheView*>(static_cast<const TimingCacheView*>(&cache));
  return true;
}

}  // namespace camshaft::api
