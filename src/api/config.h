// IBuilderConfig: plain settings.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "api/implements.h"
#include "api/profile.h"
#include "api/report.h"
#include "api/timing_cache.h"

namespace camshaft::api {

class BuilderConfig final : public Implements<nvinfer1::IBuilderConfig> {
 public:
  explicit BuilderConfig(const Reporter& reporter) : reporter_(reporter) { reset(); }

  const std::vector<ShapeProfile>& profiles() const { return profiles_; }
  TimingCache* timings() const { return timings_.get(); }
  const std::map<const nvinfer1::ILayer*, nvinfer1::DeviceType>& layerDevices() const {
    return layerDevices_;
  }
  const std::vector<std::string>& pluginLibraries() const { return pluginLibraries_; }
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
  int32_t getBuilderOptimizationLevel() const noexcept override { return level_; }
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

  void setAlgorithmSelector(nvinfer1::IAlgorithmSelector* selector) noexcept override {
    selector_ = selector;
  }
  nvinfer1::IAlgorithmSelector* getAlgorithmSelector() const noexcept override { return selector_; }
  bool setTacticSources(nvinfer1::TacticSources sources) noexcept override;
  nvinfer1::TacticSources getTacticSources() const noexcept override { return tacticSources_; }
  void setMaxNbTactics(int32_t count) noexcept override;
  int32_t getMaxNbTactics() const noexcept override { return maxNbTactics_; }
  void setHardwareCompatibilityLevel(nvinfer1::HardwareCompatibilityLevel level) noexcept override;
  nvinfer1::HardwareCompatibilityLevel getHardwareCompatibilityLevel() const noexcept override {
    return hardware_;
  }
  // Builds refuse what is not for here (requireHere, builder.cpp).
  void setEngineCapability(nvinfer1::EngineCapability capability) noexcept override;
  nvinfer1::EngineCapability getEngineCapability() const noexcept override { return capability_; }
  void setRuntimePlatform(nvinfer1::RuntimePlatform platform) noexcept override;
  nvinfer1::RuntimePlatform getRuntimePlatform() const noexcept override { return platform_; }
  void setPluginsToSerialize(const char* const* paths, int32_t count) noexcept override;
  const char* getPluginToSerialize(int32_t index) const noexcept override;
  int32_t getNbPluginsToSerialize() const noexcept override {
    return static_cast<int32_t>(pluginLibraries_.size());
  }

  // Of single layers, and of DLA, which there is none of.
  void setDeviceType(const nvinfer1::ILayer* layer, nvinfer1::DeviceType device) noexcept override;
  nvinfer1::DeviceType getDeviceType(const nvinfer1::ILayer* layer) const noexcept override;
  bool isDeviceTypeSet(const nvinfer1::ILayer* layer) const noexcept override {
    return layerDevices_.contains(layer);
  }
  void resetDeviceType(const nvinfer1::ILayer* layer) noexcept override {
    layerDevices_.erase(layer);
  }
  bool canRunOnDLA(const nvinfer1::ILayer*) const noexcept override { return false; }
  void setDLACore(int32_t core) noexcept override;
  int32_t getDLACore() const noexcept override { return -1; }

  // Nothing hangs on these: kernels are timed on streams of the build's own, layers are not tiled
  // together, tensors are always calibrated one by one, and there is no preview. Builds say so
  // where they are set.
  void setProfileStream(cudaStream_t const stream) noexcept override { profileStream_ = stream; }
  cudaStream_t getProfileStream() const noexcept override { return profileStream_; }
  void setQuantizationFlags(nvinfer1::QuantizationFlags flags) noexcept override;
  nvinfer1::QuantizationFlags getQuantizationFlags() const noexcept override;
  void clearQuantizationFlag(nvinfer1::QuantizationFlag flag) noexcept override;
  void setQuantizationFlag(nvinfer1::QuantizationFlag flag) noexcept override;
  bool getQuantizationFlag(nvinfer1::QuantizationFlag flag) const noexcept override;
  // TensorRT has it on.
  static constexpr uint32_t kDefaultPreviewFeatures =
      1u << static_cast<uint32_t>(nvinfer1::PreviewFeature::kPROFILE_SHARING_0806);
  void setPreviewFeature(nvinfer1::PreviewFeature feature, bool enable) noexcept override;
  bool getPreviewFeature(nvinfer1::PreviewFeature feature) const noexcept override;
  bool setTilingOptimizationLevel(nvinfer1::TilingOptimizationLevel level) noexcept override;
  nvinfer1::TilingOptimizationLevel getTilingOptimizationLevel() const noexcept override {
    return tiling_;
  }
  bool setL2LimitForTiling(int64_t bytes) noexcept override;
  int64_t getL2LimitForTiling() const noexcept override { return l2Limit_; }

  // api/calibration.h says what a build makes of these.
  void setInt8Calibrator(nvinfer1::IInt8Calibrator* calibrator) noexcept override {
    calibrator_ = calibrator;
  }
  nvinfer1::IInt8Calibrator* getInt8Calibrator() const noexcept override { return calibrator_; }
  bool setCalibrationProfile(const nvinfer1::IOptimizationProfile* profile) noexcept override;
  const nvinfer1::IOptimizationProfile* getCalibrationProfile() noexcept override {
    return calibrationProfile_;
  }
  const std::optional<ShapeProfile>& calibrationShapes() const { return calibrationShapes_; }

  // config_refusals.cpp: only the value that these have is taken.
  bool setRemoteAutoTuningConfig(const char* config) noexcept override;
  const char* getRemoteAutoTuningConfig() const noexcept override { return ""; }
  bool setBuildRoute(const char* route) noexcept override;
  const char* getBuildRoute() const noexcept override { return ""; }
  const char* getAllBuildRoutes() const noexcept override { return ""; }

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
  nvinfer1::IAlgorithmSelector* selector_;
  nvinfer1::IInt8Calibrator* calibrator_;
  const nvinfer1::IOptimizationProfile* calibrationProfile_;
  std::optional<ShapeProfile> calibrationShapes_;  // as it was when it was set
  nvinfer1::TacticSources tacticSources_;
  int32_t maxNbTactics_;
  nvinfer1::HardwareCompatibilityLevel hardware_;
  nvinfer1::EngineCapability capability_;
  nvinfer1::RuntimePlatform platform_;
  std::vector<std::string> pluginLibraries_;  // paths
  std::map<const nvinfer1::ILayer*, nvinfer1::DeviceType> layerDevices_;
  nvinfer1::TilingOptimizationLevel tiling_;
  int64_t l2Limit_;
  cudaStream_t profileStream_;
  nvinfer1::QuantizationFlags quantizationFlags_;
  uint32_t previewFeatures_;  // bits of PreviewFeature
  std::array<std::size_t, nvinfer1::EnumMax<nvinfer1::MemoryPoolType>()> pools_;
  std::vector<ShapeProfile> profiles_;
  std::shared_ptr<TimingCache> timings_;
  Link<TimingCacheView> timingsView_;  // as the caller gave it, until they end it
};

}  // namespace camshaft::api
