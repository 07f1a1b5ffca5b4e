// What every position of a resized dimension is made of: a weighted sum of input positions.
#pragma once

#include <cstddef>
#include <cstdint>

#include "backends/cpu/sample/positions.h"

namespace camshaft::cpu::sample {

class Taps {
 public:
  Taps() = default;
  Taps(const ResampleParams& params, const ResizedDimension& dimension);

  int64_t count() const { return count_; }  // of each position
  int64_t bytes() const;                    // of memory
  void fill(std::byte* memory);

  // Tap t of position i at [t * positions + i].
  const int32_t* places() const { return places_; }
  const float* weights() const { return weights_; }
  // Whether a position lies outside the cropped region.
  bool isOutside(int64_t position) const { return places_[position] < 0; }

 private:
  double weightAt(double distance) const;
  void fillPosition(int64_t x);

  const ResampleParams* params_ = nullptr;
  ResizedDimension dimension_ = {};
  int64_t count_ = 1;
  int64_t first_ = 0;     // the first tap, counted from the left neighbour
  double narrowing_ = 1;  // of the weights' triangle or curve
  int32_t* places_ = nullptr;
  float* weights_ = nullptr;
};

}  // namespace camshaft::cpu::sample
