#include "accuracy/bound.h"

#include <algorithm>
#include <cmath>

#include "support/error.h"

namespace camshaft {

AccuracyJudge::AccuracyJudge(AccuracyBound bound, std::vector<std::string> outputs)
    : bound_(std::move(bound)), outputs_(std::move(outputs)) {
  if (!bound_.hasErrors() && !bound_.metric)
    fail(ErrorKind::kInvalidArgument,
         "there is no bound to keep: give the largest error of the outputs, or a metric");
  const auto requirePositive = [](double value, const char* what) {
    if (!(value > 0)) fail(ErrorKind::kInvalidArgument, what, " must be above 0, not ", value);
  };
  if (bound_.maxError) requirePositive(*bound_.maxError, "the largest error");
  for (const auto& [output, error] : bound_.byOutput) {
    if (std::ranges::find(outputs_, output) == outputs_.end())
      fail(ErrorKind::kInvalidArgument, "an error is bounded for '", output,
           "', which is no output; the outputs are ", join(outputs_, ", "));
    requirePositive(error, "the largest error of an output");
  }
  if (bound_.metric && !(bound_.maxDrop >= 0))
    fail(ErrorKind::kInvalidArgument, "the metric's largest drop must be 0 or above, not ",
         bound_.maxDrop);
}

std::optional<double> AccuracyJudge::boundOf(const std::string& output) const {
  const auto own = bound_.byOutput.find(output);
  return own == bound_.byOutput.end() ? bound_.maxError : own->second;
}

Accuracy AccuracyJudge::compare(std::span<const int> samples,
                                const std::vector<RunOutputs>& outputs) const {
  Accuracy accuracy;
  for (size_t i = 0; i < outputs_.size(); ++i) {
    ErrorMeter meter;
    for (size_t at = 0; at < samples.size(); ++at)
      meter.add(reference_.at(samples[at])[i], outputs[at][i]);
    accuracy.errors.push_back(meter.error());
    const std::optional<double> bound = boundOf(outputs_[i]);
    if (bound || !bound_.hasErrors())
      accuracy.share = std::max(accuracy.share, meter.error() / bound.value_or(1));
  }
  return accuracy;
}

// Of numbers that are no longer finite a metric could say anything.
Accuracy AccuracyJudge::judge(std::span<const int> samples,
                              const std::vector<RunOutputs>& outputs) const {
  Accuracy accuracy = compare(samples, outputs);
  if (bound_.metric && std::isfinite(accuracy.share))
    accuracy.metric = bound_.metric(samples, outputs);
  return accuracy;
}

double AccuracyJudge::referenceMetric(std::span<const int> samples) const {
  const std::vector<int> key(samples.begin(), samples.end());
  if (const auto known = referenceMetrics_.find(key); known != referenceMetrics_.end())
    return known->second;
  std::vector<RunOutputs> outputs;
  for (const int sample : samples) outputs.push_back(reference_.at(sample));
  return referenceMetrics_[key] = bound_.metric(samples, outputs);
}

bool AccuracyJudge::keeps(const Accuracy& accuracy, std::span<const int> samples) const {
  if (!std::isfinite(accuracy.share) || (bound_.hasErrors() && accuracy.share > 1)) return false;
  return !bound_.metric || accuracy.metric >= referenceMetric(samples) - bound_.maxDrop;
}

}  // namespace camshaft
