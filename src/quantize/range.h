// What part of a tensor's elements numbers of 8 bits stand for, and how.
#pragma once

#include "quantize/statistics.h"
#include "support/data_type.h"

namespace camshaft {

enum class RangeMethod { kMinMax, kPercentile, kEntropy, kSquaredError };

struct RangeChoice {
  RangeMethod method = RangeMethod::kEntropy;
  double percentile = 99.99;  // of all elements, that are inside
};

// Zero is always inside.
struct Range {
  double low = 0, high = 0;
};
Range chooseRange(const TensorStatistics& statistics, const RangeChoice& choice, bool isSymmetric);

// Where the squared errors are least: of rounding to 255 steps inside, and of clipping at either
// end.
Range squaredErrorRange(const TensorStatistics& statistics);

// The part of all elements that lies outside.
double clippedShare(const TensorStatistics& statistics, const Range& range);

// x = scale * (q - zeroPoint).
struct Quantizer {
  DataType type = DataType::kI8;
  float scale = 1;
  int zeroPoint = 0;

  Range range() const;           // what it can stand for
  float rounded(float x) const;  // what is left of x
};
Quantizer quantizerFor(const Range& range, DataType type);

}  // namespace camshaft
