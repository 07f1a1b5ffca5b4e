// Settings that builds cannot follow yet. Each takes the value it has, and refuses all others.
#include "api/config.h"

namespace camshaft::api {

using namespace nvinfer1;

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

bool BuilderConfig::setRemoteAutoTuningConfig(const char* config) noexcept {
  if (!config || !*config) return true;
  return refused(reporter_, "kernels cannot be timed on another machine yet", false);
}

bool BuilderConfig::setBuildRoute(const char* route) noexcept {
  if (!route || !*route) return true;
  return refused(reporter_, "there is one build route, which has no name", false);
}

}  // namespace camshaft::api
