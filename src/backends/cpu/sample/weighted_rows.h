// Weighted sums of rows, and of elements of a row, of f32. What has no weight is not looked at, so
// that an infinity in it does no harm.
#pragma once

#include <cstdint>

namespace camshaft::cpu::sample {

struct WeightedRow {
  const float* row;
  float weight;
};

inline constexpr int kRowsAtOnce = 4;

// to = the sum of up to kRowsAtOnce rows, of none zeros; added to what is there if `adds`.
void sumRows(const WeightedRow* rows, int number, bool adds, float* to, int64_t count);

// to[i] = the sum over taps t of weights[t * count + i] * row[places[t * count + i]]. A place below
// zero has no weight.
void sumTaps(const float* row, const int32_t* places, const float* weights, int64_t taps, float* to,
             int64_t count);

}  // namespace camshaft::cpu::sample
