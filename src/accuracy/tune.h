// Accuracy-aware builds: the fastest mix of precisions that keeps a bound on data.
#pragma once

#include "accuracy/bound.h"
#include "accuracy/report.h"
#include "calibration/samples.h"
#include "compiler/compile.h"

namespace camshaft {

struct AccuracyRequest {
  AccuracyBound bound;
  std::vector<DataType> types;  // to try below f32; empty: all that the device has
  // Groups are lowered alone on so many samples at most, and so many mixes are tried beyond the
  // one that halving finds.
  int sensitivitySamples = 8, extraMixes = 6;
};

// Of every other sample, mixes are tuned with the first, and those that are found must keep the
// bound on the second too. Ranges that the options lack come from the samples. Throws Error where
// there is no sample, or where f32 itself does not keep the bound; what the options' progress stops
// leaves nothing behind.
AccuracyReport tunePrecision(Graph graph, CompileOptions options, const Samples& samples,
                             const AccuracyRequest& request);

}  // namespace camshaft
