// Where to clip a tensor that is to become 8-bit integers: the size that the largest of them stand
// for. All are 0 for a tensor of nothing but zeros.
#pragma once

#include "calibration/histogram.h"

namespace camshaft {

// By Kullback-Leibler divergence, as Migacz's talk "8-bit inference with TensorRT" (2017)
// describes: of all places to clip at, the one where the distribution of |x|, seen through 128
// levels, tells least from the distribution with all that is beyond on its last place. Shares alone
// count there, so it would clip a few elements however large they are; it never clips more than
// what the squared error allows.
double entropyThreshold(const Histogram& histogram);

// Where the squared errors are least in all: of rounding below, to 127 steps, and of clipping
// beyond.
double squaredErrorThreshold(const Histogram& histogram);

// What a part `quantile` of all elements stays below, zeros included.
double percentileThreshold(const Histogram& histogram, double quantile);

}  // namespace camshaft
