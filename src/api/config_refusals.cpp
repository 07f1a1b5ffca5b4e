// Settings that builds cannot follow yet. Each takes the value it has, and refuses all others.
#include "api/config.h"
#include "api/engine.h"

namespace camshaft::api {

using namespace nvinfer1;

void BuilderConfig::setEngineCapability(EngineCapability capability) noexcept {
  if (capability != getEngineCapability())
    refused(reporter_, "engines of other capabilities than kSTANDARD are not available", false);
}

EngineCapability BuilderConfig::getEngineCapability() const noexcept {
  return EngineCapability::kSTANDARD;
}

namespace {

constexpr char kNoCalibration[] =
    "calibration for int8 is not available yet; quantise the model, so that it has QuantizeLinear "
    "and "
    "DequantizeLinear nodes";

}  // namespace

void BuilderConfig::setInt8Calibrator(IInt8Calibrator* calibrator) noexcept {
  if (calibrator) refused(reporter_, kNoCalibration, false);
}

bool BuilderConfig::setCalibrationProfile(const IOptimizationProfile* profile) noexcept {
  return profile ? refused(reporter_, kNoCalibration, false) : true;
}

void BuilderConfig::setAlgorithmSelector(IAlgorithmSelector* selector) noexcept {
  if (selector)
    refused(
        reporter_,
        "algorithm selectors are not available yet; a timing cache makes builds choose the same "
        "kernels again",
        false);
}

void BuilderConfig::setDeviceType(const ILayer*, DeviceType device) noexcept {
  if (device != device_)
    refused(reporter_,
            "a layer cannot have a device of its own yet: all run on that of setDefaultDeviceType",
            false);
}

void BuilderConfig::setDLACore(int32_t core) noexcept {
  if (core != getDLACore())
    refused(reporter_, "there is no DLA, so none of its cores can be set", false);
}

bool BuilderConfig::setTacticSources(TacticSources sources) noexcept {
  if (sources == getTacticSources()) return true;
  return refused(reporter_,
                 "tactic sources cannot be chosen yet: a build tries every library that is there",
                 false);
}

TacticSources BuilderConfig::getTacticSources() const noexcept { return kAllTacticSources; }

void BuilderConfig::setHardwareCompatibilityLevel(HardwareCompatibilityLevel level) noexcept {
  if (level != getHardwareCompatibilityLevel())
    refused(reporter_,
            "engines for several kinds of GPU are not available yet; build one for each, with "
            "setComputeCapability",
            false);
}

HardwareCompatibilityLevel BuilderConfig::getHardwareCompatibilityLevel() const noexcept {
  return HardwareCompatibilityLevel::kNONE;
}

void BuilderConfig::setRuntimePlatform(RuntimePlatform platform) noexcept {
  if (platform != getRuntimePlatform())
    refused(reporter_, "engines for another platform than that of the build are not available",
            false);
}

RuntimePlatform BuilderConfig::getRuntimePlatform() const noexcept {
  return RuntimePlatform::kSAME_AS_BUILD;
}

void BuilderConfig::setPluginsToSerialize(const char* const*, int32_t count) noexcept {
  if (count != 0) refused(reporter_, "engines cannot hold libraries of plugins yet", false);
}

void BuilderConfig::setMaxNbTactics(int32_t count) noexcept {
  if (count != getMaxNbTactics())
    refused(reporter_,
            "the number of tactics that are timed cannot be set yet; setBuilderOptimizationLevel "
            "bounds it",
            false);
}

bool BuilderConfig::setTilingOptimizationLevel(TilingOptimizationLevel level) noexcept {
  if (level == getTilingOptimizationLevel()) return true;
  return refused(reporter_, "tiling several layers together is not available yet", false);
}

TilingOptimizationLevel BuilderConfig::getTilingOptimizationLevel() const noexcept {
  return TilingOptimizationLevel::kNONE;
}

bool BuilderConfig::setL2LimitForTiling(int64_t bytes) noexcept {
  if (bytes == getL2LimitForTiling()) return true;
  return refused(reporter_, "tiling several layers together is not available yet", false);
}

bool BuilderConfig::setRemoteAutoTuningConfig(const char* config) noexcept {
  if (!config || !*config) return true;
  return refused(reporter_, "kernels cannot be timed on another machine yet", false);
}

bool BuilderConfig::setBuildRoute(const char* route) noexcept {
  if (!route || !*route) return true;
  return refused(reporter_, "there is one build route, which has no name", false);
}

}  // namespace camshaft::api
