#include "api/calibration.h"

#include <algorithm>

#include "calibration/calibrate.h"
#include "calibration/threshold.h"

namespace camshaft::api {
namespace {

using namespace nvinfer1;

std::string_view nameOf(CalibrationAlgoType algorithm) {
  switch (algorithm) {
    case CalibrationAlgoType::kLEGACY_CALIBRATION:
      return "LegacyCalibration";
    case CalibrationAlgoType::kENTROPY_CALIBRATION:
      return "EntropyCalibration";
    case CalibrationAlgoType::kENTROPY_CALIBRATION_2:
      return "EntropyCalibration2";
    case CalibrationAlgoType::kMINMAX_CALIBRATION:
      return "MinMaxCalibration";
  }
  fail(ErrorKind::kInvalidArgument, "the calibrator's getAlgorithm() returned ",
       static_cast<int>(algorithm), ", which is no CalibrationAlgoType");
}

class CalibratorRun {
 public:
  CalibratorRun(const Network& network, IInt8Calibrator& calibrator, CompileOptions options)
      : network_(network),
        calibrator_(calibrator),
        options_(std::move(options)),
        algorithm_(calibrator.getAlgorithm()),
        name_(nameOf(algorithm_)) {}

  TensorScales scales() {
    if (auto cached = readCache()) return std::move(*cached);
    const TensorHistograms histograms = readOrGather();
    TensorScales scales;
    for (const auto& [tensor, histogram] : histograms) {
      const double threshold = thresholdOf(histogram);
      // Nothing but zeros came, for which any scale will do.
      scales.emplace(tensor, static_cast<float>((threshold > 0 ? threshold : 1) / 127));
    }
    const std::string text = writeScales(NV_TENSORRT_VERSION, name_, scales);
    calibrator_.writeCalibrationCache(text.data(), text.size());
    return scales;
  }

 private:
  std::optional<TensorScales> readCache() const {
    size_t length = 0;
    const void* data = calibrator_.readCalibrationCache(length);
    if (!data || length == 0) return std::nullopt;
    auto cache = readScales({static_cast<const char*>(data), length});
    if (!cache) {
      options_.log.warning(
          "the calibration cache is no text that begins with TRT-, so the network is calibrated "
          "anew");
      return std::nullopt;
    }
    if (cache->algorithm != name_) {
      options_.log.warning("the calibration cache is of ", cache->algorithm,
                           " and the calibrator of ", name_, ", so the network is calibrated anew");
      return std::nullopt;
    }
    options_.log.info("ranges of ", cache->scales.size(),
                      " tensors come from the calibration cache");
    return std::move(cache->scales);
  }

  // Only legacy calibrators keep histograms.
  TensorHistograms readOrGather() {
    if (algorithm_ != CalibrationAlgoType::kLEGACY_CALIBRATION) return gather();
    size_t length = 0;
    const void* data = legacy().readHistogramCache(length);
    if (data && length > 0)
      if (auto histograms = readHistograms({static_cast<const char*>(data), length}))
        return std::move(*histograms);
    TensorHistograms histograms = gather();
    const std::string text = writeHistograms(histograms);
    legacy().writeHistogramCache(text.data(), text.size());
    return histograms;
  }

  TensorHistograms gather() {
    Graph graph = network_.graphToCalibrate();
    std::vector<std::string> inputs;
    for (const Value* input : graph.inputs) inputs.push_back(input->name);
    std::vector<const char*> names;
    for (const std::string& input : inputs) names.push_back(input.c_str());
    int batches = 0;
    const NextBatch next = [&](std::span<const void*> addresses) {
      std::vector<void*> bindings(names.size(), nullptr);
      if (!calibrator_.getBatch(bindings.data(), names.data(), static_cast<int32_t>(names.size())))
        return false;
      std::copy(bindings.begin(), bindings.end(), addresses.begin());
      ++batches;
      return true;
    };
    TensorHistograms histograms = gatherHistograms(std::move(graph), options_, next);
    options_.log.info("calibrated ", histograms.size(), " tensors on ", batches, " batches by ",
                      name_);
    return histograms;
  }

  // The interface says that only an IInt8LegacyCalibrator has this algorithm.
  IInt8LegacyCalibrator& legacy() const { return static_cast<IInt8LegacyCalibrator&>(calibrator_); }

  double thresholdOf(const Histogram& histogram) const {
    switch (algorithm_) {
      case CalibrationAlgoType::kMINMAX_CALIBRATION:
        return histogram.largest();
      case CalibrationAlgoType::kLEGACY_CALIBRATION:
        return std::max(percentileThreshold(histogram, legacy().getQuantile()),
                        std::clamp(legacy().getRegressionCutoff(), 0.0, 1.0) * histogram.largest());
      default:
        return entropyThreshold(histogram);
    }
  }

  const Network& network_;
  IInt8Calibrator& calibrator_;
  const CompileOptions options_;
  const CalibrationAlgoType algorithm_;
  const std::string_view name_;
};

// Why ranges would change nothing; empty: they may.
std::string whyUseless(const Network& network, const BuilderConfig& config, bool isRefittable) {
  if (!config.getFlag(BuilderFlag::kINT8)) return "builder flag kINT8 is not set";
  if (network.hasQuantization()) return "the network says itself what is quantised";
  if (isRefittable) return "weights of an engine that can be refitted stay as they are";
  return "";
}

}  // namespace

TensorRanges rangesFor(const Network& network, const BuilderConfig& config,
                       const CompileOptions& options, bool isRefittable) {
  TensorRanges ranges = network.tensorRanges();
  IInt8Calibrator* calibrator = config.getInt8Calibrator();
  const std::string reason = whyUseless(network, config, isRefittable);
  if (!reason.empty()) {
    if (calibrator || !ranges.empty())
      options.log.info(calibrator ? "the calibrator is not asked: "
                                  : "dynamic ranges of tensors change nothing: ",
                       reason);
    return {};
  }
  if (calibrator) {
    CompileOptions calibration = options;
    if (config.calibrationShapes()) calibration.profiles = {*config.calibrationShapes()};
    CalibratorRun run(network, *calibrator, std::move(calibration));
    for (const auto& [tensor, scale] : run.scales())
      ranges.try_emplace(tensor, TensorRange{-127 * scale, 127 * scale});
  }
  if (ranges.empty())
    options.log.warning(
        "builder flag kINT8 changes nothing: no tensor has a range; set a calibrator, or give "
        "tensors ranges with setDynamicRange");
  return ranges;
}

}  // namespace camshaft::api
