// Accuracy-aware builds, as include/CamshaftAccuracy.h offers them.
#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "CamshaftAccuracy.h"
#include "accuracy/tune.h"
#include "api/build_setup.h"
#include "api/calibration.h"
#include "api/report.h"
#include "api/samples.h"

namespace camshaft::api {
namespace {

using nvinfer1::BuilderFlag;

AccuracyMetric metricOf(IAccuracyMetric& metric, std::vector<std::string> names) {
  return [&metric, names = std::move(names)](std::span<const int> samples,
                                             std::span<const RunOutputs> runs) {
    std::vector<OutputView> views;
    for (const RunOutputs& outputs : runs)
      for (size_t i = 0; i < outputs.size(); ++i)
        views.push_back({names[i].c_str(), toPublic(outputs[i].type), toPublic(outputs[i].dims),
                         outputs[i].bytes.data()});
    const std::vector<int32_t> numbers(samples.begin(), samples.end());
    const double score = metric.score(numbers.data(), static_cast<int32_t>(numbers.size()),
                                      views.data(), static_cast<int32_t>(names.size()));
    if (std::isnan(score))
      fail(ErrorKind::kInvalidArgument, "the metric is not a number, so tuning was stopped");
    return score;
  };
}

class PrecisionTuner final : public IPrecisionTuner {
 public:
  PrecisionTuner(Network& network, BuilderConfig& config, nvinfer1::ILogger* logger)
      : network_(network), config_(config), reporter_(logger) {
    if (network.getFlag(nvinfer1::NetworkDefinitionCreationFlag::kSTRONGLY_TYPED))
      fail(ErrorKind::kInvalidArgument,
           "the precision of a strongly typed network is its own; create it without that flag");
  }

  bool setMaxError(double error, const char* output) noexcept override {
    return guarded(reporter_, false, [&] {
      if (output)
        bound_.byOutput[output] = error;
      else
        bound_.maxError = error;
      return true;
    });
  }
  bool setMetric(IAccuracyMetric* metric, double maxDrop) noexcept override {
    metric_ = metric;
    bound_.maxDrop = maxDrop;
    return true;
  }
  bool setSensitivitySamples(int32_t count) noexcept override {
    return guarded(reporter_, false, [&] {
      if (count < 1)
        fail(ErrorKind::kInvalidArgument, "layers are lowered alone on at least 1 sample, not ",
             count);
      sensitivitySamples_ = count;
      return true;
    });
  }

  bool run(ICalibrationSamples& samples) noexcept override {
    return guarded(reporter_, false, [&] {
      if (config_.getFlag(BuilderFlag::kOBEY_PRECISION_CONSTRAINTS))
        fail(
            ErrorKind::kInvalidArgument,
            "builder flag kOBEY_PRECISION_CONSTRAINTS is set, and tuning asks for precisions under "
            "kPREFER_PRECISION_CONSTRAINTS; clear it");
      const auto* builder = dynamic_cast<const BuildSetups*>(&network_.getBuilder());
      CAMSHAFT_CHECK(builder, "the network's builder is not of this library");
      const BuildSetup setup = builder->setup(network_, config_);
      CompileOptions options = setup.options;
      AccuracyRequest request{.bound = bound_, .types = typesFor(options)};
      request.sensitivitySamples = sensitivitySamples_;
      if (options.allowI8 && config_.getInt8Calibrator())
        options.ranges = rangesFor(network_, config_, options, false);
      Graph graph = network_.graphFor(options);
      std::vector<std::string> outputs;
      for (const Graph::Output& output : graph.outputs) outputs.push_back(output.name);
      if (metric_) request.bound.metric = metricOf(*metric_, std::move(outputs));
      const SamplesOfUser data(samples, graph.inputs.size());
      report_ = tunePrecision(std::move(graph), std::move(options), data, request);
      std::erase_if(report_->recipe.ranges, [&](const auto& range) {
        return network_.graph().find(range.first) == nullptr;
      });
      apply(report_->recipe);
      return true;
    });
  }

  const char* reportTable() noexcept override {
    return guarded<const char*>(reporter_, "", [&] { return (text_ = made().table()).c_str(); });
  }
  const char* reportJson() noexcept override {
    return guarded<const char*>(reporter_, "", [&] { return (text_ = made().json()).c_str(); });
  }

 private:
  // Models that say themselves what is quantised have their bytes already.
  std::vector<DataType> typesFor(const CompileOptions& options) const {
    std::vector<DataType> types;
    if (options.allowF16) types.push_back(DataType::kF16);
    if (options.allowBF16) types.push_back(DataType::kBF16);
    if (options.allowI8) types.push_back(DataType::kI8);
    if (!network_.hasQuantization()) return types;
    std::erase(types, DataType::kI8);
    return types.empty() ? std::vector{DataType::kF16, DataType::kBF16} : types;
  }

  void apply(const PrecisionRecipe& recipe) {
    network_.setPrecisions(recipe.layers, recipe.ranges);
    const auto set = [&](BuilderFlag flag, bool on) {
      on ? config_.setFlag(flag) : config_.clearFlag(flag);
    };
    set(BuilderFlag::kFP16, recipe.allowF16);
    set(BuilderFlag::kBF16, recipe.allowBF16);
    set(BuilderFlag::kINT8, recipe.allowI8);
    set(BuilderFlag::kPREFER_PRECISION_CONSTRAINTS, !recipe.layers.empty());
  }

  const AccuracyReport& made() const {
    if (!report_) fail(ErrorKind::kInvalidArgument, "the precision tuner has not run");
    return *report_;
  }

  Network& network_;
  BuilderConfig& config_;
  Reporter reporter_;
  AccuracyBound bound_;
  IAccuracyMetric* metric_ = nullptr;
  int32_t sensitivitySamples_ = AccuracyRequest{}.sensitivitySamples;
  std::optional<AccuracyReport> report_;
  std::string text_;
};

}  // namespace
}  // namespace camshaft::api

extern "C" CAMSHAFT_API void* createPrecisionTuner_INTERNAL(void* network, void* config,
                                                            void* logger, int version) noexcept {
  using namespace camshaft::api;
  auto* typed = static_cast<nvinfer1::ILogger*>(logger);
  return createChecked<camshaft::IPrecisionTuner>(
      typed, version, CAMSHAFT_PRECISION_TUNER_VERSION, [&] {
        auto* definition = static_cast<nvinfer1::INetworkDefinition*>(network);
        auto* settings = static_cast<nvinfer1::IBuilderConfig*>(config);
        return new PrecisionTuner(static_cast<Network&>(*definition),
                                  static_cast<BuilderConfig&>(*settings), typed);
      });
}
