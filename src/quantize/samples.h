// Calibration data, and runs of a model on it.
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "calibration/calibrate.h"
#include "onnx/wire/read_model.h"

namespace camshaft {

using TensorNames = std::set<std::string, std::less<>>;
// Told how far a phase is; false: stop.
using QuantizeProgress = std::function<bool(const char* phase, int done, int total)>;

// Names of the inputs that a caller gives: those that have no default.
std::vector<std::string> inputNames(const onnx::Model& model);

// Runs models that differ in their nodes only, on the same samples.
class SampleRunner {
 public:
  // Throws Error where there is no sample, or one that is not like the others.
  SampleRunner(const Samples& samples, std::vector<std::string> inputs, int threads);

  int count() const { return samples_.count(); }
  std::unique_ptr<ObservedNetwork> build(const onnx::LoadedModel& model, const TensorNames& tensors,
                                         TensorObserver observer) const;
  void run(ObservedNetwork& network, int sample) const { network.run(samples_, sample); }

 private:
  const Samples& samples_;
  const std::vector<std::string> inputs_;
  CompileOptions options_;
};

}  // namespace camshaft
