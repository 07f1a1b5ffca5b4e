// IBuilderConfig: plain settings.
#pragma once

#include <array>
#include <set>
#include <string>
#include <vector>

#include "NvInfer.h"
#include "api/profile.h"
#include "api/report.h"
#include "api/timing_cache.h"

namespace camshaft::api {

class BuilderConfig : public nvinfer1::IBuilderConfig {
 public:
  explicit BuilderConfig(const Reporter& reporter) : reporter_(reporter) { reset(); }

  const std::vector<ShapeProfile>& profiles() const { return profiles_; }
  TimingCache* timings() const { return timings_.get(); }
  const std::set<std::string, std::less<>>& disabledPasses() const { return disabledPasses_; }

  void reset() noexcept override;
  void setFlags(nvinfer1::BuilderFlags flags) noexcept override { flags_ = flags; }
  nvinfer1::BuilderFlags getFlags() const noexcept override { return flags_; }
  void clearFlag(nvinfer1::BuilderFlag flag) noexcept override;
  void setFlag(nvinfer1::BuilderFlag flag) noexcept override;
  bool getFlag(nvinfer1::BuilderFlag flag) const noexcept override;
  void setDefaultDeviceType(nvinfer1::DeviceType device) noexcept override;
  nvinfer1::DeviceType getDefaultDeviceType() const noexcept override { return device_; }
  void setComputeCapability(int32_t capability) noexcept override;
  int32_t getComputeCapability() const noexcept override { return computeCapability_; }
  bool setPassEnabled(const char* pass, bool enabled) noexcept override;
  bool isPassEnabled(const char* pass) const noexcept override;
  void setGraphFolder(const char* folder) noexcept override;
  const char* getGraphFolder() const noexcept override { return graphFolder_.c_str(); }
  void setBuilderOptimizationLevel(int32_t level) noexcept override;
  int32_t getBuilderOptimizationLevel() noexcept override { return level_; }
  void setAvgTimingIterations(int32_t iterations) noexcept override;
  int32_t getAvgTimingIterations() const noexcept override { return avgTiming_; }
  void setMaxAuxStreams(int32_t streams) noexcept override;
  int32_t getMaxAuxStreams() const noexcept override { return maxAuxStreams_; }
  void setMemoryPoolLimit(nvinfer1::MemoryPoolType pool, std::size_t size) noexcept override;
  std::size_t getMemoryPoolLimit(nvinfer1::MemoryPoolType pool) const noexcept override;
  void setProfilingVerbosity(nvinfer1::ProfilingVerbosity verbosity) noexcept override;
  nvinfer1::ProfilingVerbosity getProfilingVerbosity() const noexcept override {
    return verbosity_;
  }
  void setProgressMonitor(nvinfer1::IProgressMonitor* monitor) noexcept override {
    monitor_ = monitor;
  }
  nvinfer1::IProgressMonitor* getProgressMonitor() const noexcept override { return monitor_; }
  int32_t addOptimizationProfile(const nvinfer1::IOptimizationProfile* profile) noexcept override;
  int32_t getNbOptimizationProfiles() const noexcept override {
    return static_cast<int32_t>(profiles_.size());
  }
  nvinfer1::ITimingCache* createTimingCache(const void* blob,
                                            std::size_t size) const noexcept override;
  bool setTimingCache(const nvinfer1::ITimingCache& cache, bool ignoreMismatch) noexcept override;
  const nvinfer1::ITimingCache* getTimingCache() const noexcept override {
    return timingsView_.get();
  }

 private:
  Reporter reporter_;
  nvinfer1::BuilderFlags flags_;
  nvinfer1::DeviceType device_;
  int32_t computeCapability_;
  std::set<std::string, std::less<>> disabledPasses_;
  std::string graphFolder_;
  int32_t level_;
  int32_t avgTiming_;
  int32_t maxAuxStreams_;
  nvinfer1::ProfilingVerbosity verbosity_;
  nvinfer1::IProgressMonitor* monitor_;
  std::array<std::size_t, nvinfer1::EnumMax<nvinfer1::MemoryPoolType>()> pools_;
  std::vector<ShapeProfile> profiles_;
  std::shared_ptr<TimingCache> timings_;
  Link<TimingCacheView> timingsView_;  // as the caller gave it, until they end it
};

}  // namespace camshaft::api
