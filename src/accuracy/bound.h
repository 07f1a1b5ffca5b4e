// What lower precision may cost, and what it did.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "accuracy/errors.h"

namespace camshaft {

// How good outputs are; higher is better. `samples` are the numbers of those that they belong to.
using AccuracyMetric =
    std::function<double(std::span<const int> samples, std::span<const RunOutputs> outputs)>;

struct AccuracyBound {
  std::optional<double> maxError;          // of every output, as ErrorMeter has it
  std::map<std::string, double> byOutput;  // of single ones; goes before
  AccuracyMetric metric = nullptr;         // null: errors alone count
  double maxDrop = 0;                      // of the metric, below what f32 has
  bool hasErrors() const { return maxError || !byOutput.empty(); }
};

// What a network gave on some samples.
struct Accuracy {
  std::vector<double> errors;  // of each output
  double share = 0;            // the largest, in parts of its bound; of 1 where there is none
  double metric = 0;           // where there is one
};

// Compares with reference outputs, which it keeps.
class AccuracyJudge {
 public:
  // Throws Error where a bound is of no output, or is none.
  AccuracyJudge(AccuracyBound bound, std::vector<std::string> outputs);

  void setReference(int sample, RunOutputs outputs) { reference_[sample] = std::move(outputs); }
  // Errors, and the metric too where there is one; compare() leaves that out.
  Accuracy judge(std::span<const int> samples, const std::vector<RunOutputs>& outputs) const;
  Accuracy compare(std::span<const int> samples, const std::vector<RunOutputs>& outputs) const;
  double referenceMetric(std::span<const int> samples) const;
  bool keeps(const Accuracy& accuracy, std::span<const int> samples) const;
  const AccuracyBound& bound() const { return bound_; }
  const std::vector<std::string>& outputs() const { return outputs_; }

 private:
  std::optional<double> boundOf(const std::string& output) const;

  AccuracyBound bound_;
  std::vector<std::string> outputs_;
  std::map<int, RunOutputs> reference_;
  mutable std::map<std::vector<int>, double> referenceMetrics_;
};

}  // namespace camshaft
