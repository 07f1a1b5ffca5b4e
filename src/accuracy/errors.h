// How far the outputs of one run are from those of another.
#pragma once

#include <vector>

#include "calibration/plan_runner.h"

namespace camshaft {

using RunOutputs = std::vector<OutputTensor>;  // in the order of the network's

// Of one output, over any number of samples: the root of the squared differences over that of the
// squared values. Of other than real numbers, the share that differs. Infinite where a number is no
// longer finite, or the sizes differ.
class ErrorMeter {
 public:
  void add(const OutputTensor& expected, const OutputTensor& actual);
  double error() const;

 private:
  double signal_ = 0, noise_ = 0;
  bool isBroken_ = false;
};

}  // namespace camshaft
