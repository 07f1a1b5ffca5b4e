#include "accuracy/tune.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "accuracy/search.h"
#include "accuracy/trials.h"
#include "calibration/calibrate.h"
#include "calibration/threshold.h"
#include "compiler/phase.h"
#include "support/error.h"

namespace camshaft {
namespace {

constexpr std::string_view kWhole = "Tuning precision";

// Without one to spare, the same sample serves for both.
struct Halves {
  explicit Halves(int count) {
    for (int i = 0; i < count; ++i) (i % 2 == 0 ? tuning : heldOut).push_back(i);
    if (heldOut.empty()) heldOut = tuning;
  }
  std::vector<int> tuning, heldOut;
};

std::vector<DataType> typesFor(const std::string& device, const std::vector<DataType>& wanted) {
  const LowPrecision low = lowPrecisionOf(device);
  std::vector<DataType> there = low.bits16;
  if (low.bytes) there.push_back(DataType::kI8);
  if (wanted.empty()) {
    // bf16 is for what fp16 cannot hold, where both are there: asked for, or not tried.
    if (low.bits16.size() > 1) std::erase(there, DataType::kBF16);
    return there;
  }
  std::erase_if(there, [&](DataType type) { return std::ranges::count(wanted, type) == 0; });
  return there;
}

TensorRanges rangesFrom(const Graph& graph, const CompileOptions& options, const Samples& samples,
                        std::span<const int> tuning) {
  TensorHistograms histograms;
  ObservedNetwork network(graph.clone(), options,
                          [&](const std::string& name, std::span<const int64_t>,
                              std::span<const float> values) { histograms[name].add(values); });
  for (const int sample : tuning) network.run(samples, sample);
  TensorRanges ranges;
  for (const auto& [tensor, histogram] : histograms) {
    const double threshold = entropyThreshold(histogram);
    const auto largest = static_cast<float>(threshold > 0 ? threshold : 1);
    ranges.emplace(tensor, TensorRange{-largest, largest});
  }
  return ranges;
}

class Tuner {
 public:
  Tuner(Graph graph, CompileOptions options, const Samples& samples, const AccuracyRequest& request)
      : samples_(samples),
        request_(request),
        halves_(samples.count()),
        progress_(options.progress),
        log_(options.log),
        whole_(progress_, std::string(kWhole), "", 4),
        options_(prepared(graph, std::move(options))),
        types_(typesOf(options_)),
        trials_(std::move(graph), options_, types_, samples),
        judge_(request.bound, trials_.outputs()) {}

  AccuracyReport run() {
    reference();
    whole_.completeStep();
    timeLevels();
    whole_.completeStep();
    measureSensitivity();
    whole_.completeStep();
    const MixTrial chosen = search();
    whole_.completeAll();
    return report(chosen);
  }

 private:
  struct Level {
    double milliseconds = 0, gain = 0;
    bool isCandidate = false;
    std::optional<Accuracy> alone;
  };
  struct Measured {
    PrecisionTrials::Timed timed;  // without its plan
    Accuracy tuning;
    std::optional<Accuracy> heldOut;
  };

  // The build allows what is tried, and knows the ranges that bytes need.
  CompileOptions prepared(const Graph& graph, CompileOptions options) {
    const std::vector<DataType> types = typesFor(options.device, request_.types);
    const auto has = [&](DataType type) { return std::ranges::count(types, type) > 0; };
    options.allowF16 = has(DataType::kF16);
    options.allowBF16 = has(DataType::kBF16);
    options.allowI8 = has(DataType::kI8);
    if (!options.timings) options.timings = &ownTimings_;
    if (options.allowI8 && options.ranges.empty()) {
      Phase phase(progress_, "Calibrating", kWhole, 1);
      options.ranges = rangesFrom(graph, options, samples_, halves_.tuning);
      phase.completeAll();
    }
    if (!options.allowI8) options.ranges.clear();
    return options;
  }
  static std::vector<DataType> typesOf(const CompileOptions& options) {
    std::vector<DataType> types;
    if (options.allowF16) types.push_back(DataType::kF16);
    if (options.allowBF16) types.push_back(DataType::kBF16);
    if (options.allowI8) types.push_back(DataType::kI8);
    return types;
  }

  size_t groupCount() const { return trials_.groups().size(); }
  Mix all(int level) const { return Mix(groupCount(), level); }

  void reference() {
    std::vector<int> every(static_cast<size_t>(samples_.count()));
    for (size_t i = 0; i < every.size(); ++i) every[i] = static_cast<int>(i);
    std::vector<RunOutputs> outputs = trials_.run(trials_.reference(), every);
    for (size_t i = 0; i < every.size(); ++i) judge_.setReference(every[i], std::move(outputs[i]));
    ++builds_;
  }

  // All groups lowered at once: what each of them takes among neighbours that are lowered too.
  void timeLevels() {
    Phase phase(progress_, "Timing precisions", kWhole, 1 + static_cast<int>(types_.size()));
    otherwise_ = all(0);
    const Measured& f32 = measured(all(0));
    if (!judge_.keeps(f32.tuning, halves_.tuning))
      fail(ErrorKind::kInvalidArgument,
           "no engine keeps the bound: that in f32 already differs from the reference by ",
           f32.tuning.share, " times as much; give a larger bound",
           options_.allowTf32 ? ", or forbid TF32" : "");
    phase.completeStep();
    levels_.assign(groupCount(), std::vector<Level>(types_.size()));
    for (size_t type = 0; type < types_.size(); ++type) {
      const int level = static_cast<int>(type) + 1;
      const PrecisionTrials::Timed& lowered = measured(all(level)).timed;
      for (size_t group = 0; group < groupCount(); ++group) {
        Level& each = levels_[group][type];
        each.milliseconds = lowered.groups[group];
        each.gain = trials_.isTimed() ? f32.timed.groups[group] - each.milliseconds
                                      : untimedGain(group, level);
        each.isCandidate = each.gain > 0 && lowered.mix[group] == level &&
                           lowered.how[group] != f32.timed.how[group];
      }
      phase.completeStep();
    }
  }

  // Where nothing is timed, fewer bits are taken to be faster, and products to be alike.
  double untimedGain(size_t group, int level) const {
    return level *
           static_cast<double>(std::max<size_t>(trials_.groups()[group].products.size(), 1));
  }
  double timeOf(const PrecisionTrials::Timed& timed) const {
    if (trials_.isTimed()) return timed.milliseconds;
    double gained = 0;
    for (size_t group = 0; group < groupCount(); ++group)
      gained += untimedGain(group, timed.mix[group]);
    return -gained;
  }

  void measureSensitivity() {
    int candidates = 0;
    for (const auto& group : levels_)
      candidates += static_cast<int>(std::ranges::count(group, true, &Level::isCandidate));
    Phase phase(progress_, "Lowering layers alone", kWhole, candidates);
    const auto count = std::min(halves_.tuning.size(),
                                static_cast<size_t>(std::max(request_.sensitivitySamples, 1)));
    const std::span<const int> few = std::span(halves_.tuning).first(count);
    for (size_t group = 0; group < groupCount(); ++group)
      for (size_t type = 0; type < types_.size(); ++type) {
        Level& level = levels_[group][type];
        if (!level.isCandidate) continue;
        Mix mix = all(0);
        mix[group] = static_cast<int>(type) + 1;
        level.alone = judge_.compare(few, trials_.run(trials_.plain(mix), few));
        ++builds_;
        const bool is16Bit = types_[type] != DataType::kI8;
        if (is16Bit && std::isfinite(level.alone->share))
          otherwise_[group] = mix[group];
        else if (is16Bit)
          trials_.keepFrom16Bits(static_cast<int>(group));
        phase.completeStep();
      }
    // What is around bytes, or stands in for them, may be another type now.
    if (options_.allowF16 || options_.allowBF16) measured_.clear();
  }

  // In the order of their levels, those that can be had.
  std::vector<std::vector<LevelCost>> costs() const {
    std::vector<std::vector<LevelCost>> costs(groupCount());
    for (size_t group = 0; group < groupCount(); ++group)
      for (size_t type = 0; type < types_.size(); ++type)
        if (const Level& level = levels_[group][type]; level.isCandidate)
          costs[group].push_back({static_cast<int>(type) + 1, level.alone->share, level.gain});
    return costs;
  }

  const Measured& measured(const Mix& mix) {
    const auto known = measured_.find(mix);
    if (known != measured_.end()) return known->second;
    PrecisionTrials::Timed timed = trials_.timed(mix, otherwise_);
    ++builds_;
    Measured result{
        .tuning = judge_.judge(halves_.tuning, trials_.run(std::move(timed.plan), halves_.tuning)),
        .heldOut = {}};
    timed.plan = {};
    result.timed = std::move(timed);
    return measured_.emplace(mix, std::move(result)).first->second;
  }

  const Accuracy& heldOut(const Mix& mix) {
    measured(mix);
    Measured& known = measured_.at(mix);
    if (!known.heldOut) {
      Plan plan = trials_.timed(known.timed.mix, otherwise_).plan;
      known.heldOut = judge_.judge(halves_.heldOut, trials_.run(std::move(plan), halves_.heldOut));
    }
    return *known.heldOut;
  }

  MixTrial search() {
    const std::vector<Lowering> order = orderLowerings(costs());
    const int steps =
        2 + 2 * static_cast<int>(std::ceil(std::log2(order.size() + 1.0))) + request_.extraMixes;
    Phase phase(progress_, "Trying mixes", kWhole, steps);
    const auto onTuning = [&](const Mix& mix) {
      phase.completePart(std::min(++tried_, steps - 1), steps);
      const Measured& result = measured(mix);
      return MixTrial{result.timed.mix, timeOf(result.timed),
                      judge_.keeps(result.tuning, halves_.tuning)};
    };
    const auto onBoth = [&](const Mix& mix) {
      MixTrial trial = onTuning(mix);
      trial.keeps = trial.keeps && judge_.keeps(heldOut(trial.mix), halves_.heldOut);
      return trial;
    };
    MixTrial best = searchMix(groupCount(), order, onTuning, request_.extraMixes);
    if (!judge_.keeps(heldOut(best.mix), halves_.heldOut)) {
      log_.info(
          "the mix that keeps the bound on the data it was tuned with does not on the data "
          "held out; it lowers less until it does");
      best = searchMix(groupCount(), order, onBoth, request_.extraMixes);
    }
    phase.completeAll();
    return best;
  }

  AccuracyReport report(const MixTrial& chosen) {
    AccuracyReport report;
    report.device = options_.device;
    report.outputs = trials_.outputs();
    report.bound = request_.bound;
    report.tuningSamples = static_cast<int>(halves_.tuning.size());
    report.heldOutSamples = static_cast<int>(halves_.heldOut.size());
    if (request_.bound.metric) {
      report.tuningMetric = judge_.referenceMetric(halves_.tuning);
      report.heldOutMetric = judge_.referenceMetric(halves_.heldOut);
    }
    report.engines.push_back(engineReport("fp32", all(0)));
    for (size_t type = 0; type < types_.size(); ++type)
      report.engines.push_back(
          engineReport(str("all ", toString(types_[type])), all(static_cast<int>(type) + 1)));
    report.engines.push_back(engineReport("chosen", chosen.mix));
    for (size_t group = 0; group < groupCount(); ++group)
      report.layers.push_back(layerReport(group, chosen.mix[group]));
    report.recipe = recipeOf(chosen.mix);
    report.builds = builds_;
    return report;
  }

  AccuracyReport::Engine engineReport(std::string name, const Mix& mix) {
    const Accuracy& unseen = heldOut(mix);
    const Measured& result = measured_.at(mix);
    return {std::move(name), result.timed.milliseconds, result.tuning, unseen,
            judge_.keeps(result.tuning, halves_.tuning) && judge_.keeps(unseen, halves_.heldOut)};
  }

  AccuracyReport::Layer layerReport(size_t group, int chosen) {
    const PrecisionGroup& nodes = trials_.groups()[group];
    const std::vector<int>& named = nodes.products.empty() ? nodes.nodes : nodes.products;
    std::vector<std::string> names = trials_.names(named);
    AccuracyReport::Layer layer;
    layer.name = names.front();
    layer.with.assign(names.begin() + 1, nodes.products.empty() ? names.begin() + 1 : names.end());
    layer.op = trials_.operatorOf(named.front());
    layer.millisecondsF32 = measured(all(0)).timed.groups[group];
    if (chosen > 0) layer.precision = types_[static_cast<size_t>(chosen - 1)];
    for (size_t type = 0; type < types_.size(); ++type) {
      const Level& level = levels_[group][type];
      if (!level.isCandidate) continue;
      layer.lowered.push_back(
          {types_[type], level.milliseconds, *std::ranges::max_element(level.alone->errors)});
    }
    layer.reason = reasonFor(group, chosen);
    return layer;
  }

  std::string reasonFor(size_t group, int chosen) const {
    const std::vector<Level>& levels = levels_[group];
    if (std::ranges::none_of(levels, &Level::isCandidate)) return "no faster in anything below f32";
    if (chosen > 0) return "";
    const auto overflows = [](const Level& level) {
      return level.alone && !std::isfinite(level.alone->share);
    };
    if (std::ranges::any_of(levels, overflows)) return "its numbers do not fit: stays f32";
    const auto tooMuch = [&](const Level& level) {
      return level.alone && judge_.bound().hasErrors() && level.alone->share > 1;
    };
    if (std::ranges::any_of(levels, tooMuch)) return "alone beyond the bound";
    return "costs more error for its time than others";
  }

  PrecisionRecipe recipeOf(const Mix& mix) const {
    const auto uses = [&](DataType type) {
      return std::ranges::any_of(mix, [&](int level) {
        return level > 0 && types_[static_cast<size_t>(level - 1)] == type;
      });
    };
    PrecisionRecipe recipe;
    const bool lowers = std::ranges::any_of(mix, [](int level) { return level > 0; });
    recipe.allowTf32 = options_.allowTf32;
    if (!lowers) return recipe;
    recipe.allowF16 = options_.allowF16;
    recipe.allowBF16 = options_.allowBF16;
    recipe.layers = trials_.requests(mix);
    if ((recipe.allowI8 = uses(DataType::kI8))) recipe.ranges = options_.ranges;
    return recipe;
  }

  const Samples& samples_;
  const AccuracyRequest& request_;
  const Halves halves_;
  BuildProgress* const progress_;
  const Log log_;
  Phase whole_;
  TimingCache ownTimings_;
  CompileOptions options_;
  const std::vector<DataType> types_;
  PrecisionTrials trials_;
  AccuracyJudge judge_;
  std::vector<std::vector<Level>> levels_;  // of each group, by type
  Mix otherwise_;                           // what a group that is not to be bytes is
  std::map<Mix, Measured> measured_;
  int builds_ = 0, tried_ = 0;
};

}  // namespace

AccuracyReport tunePrecision(Graph graph, CompileOptions options, const Samples& samples,
                             const AccuracyRequest& request) {
  if (samples.count() < 1)
    fail(ErrorKind::kInvalidArgument, "there is no data to tune with: give at least one sample");
  return Tuner(std::move(graph), std::move(options), samples, request).run();
}

}  // namespace camshaft
