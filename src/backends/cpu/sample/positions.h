// Where elements of a resized dimension come from: the rules that the kernels of Resize share.
#pragma once

#include <cstdint>

#include "backends/cpu/sample/params.h"

namespace camshaft::cpu::sample {

struct ResizedDimension {
  int64_t in, out;
  double scale;               // out / in before it was rounded; 0: these sizes decide
  double start = 0, end = 1;  // of the region, where one is cropped
};

// Its scale, also where sizes decide.
double scaleOf(const ResizedDimension& dimension);

// Where output position `x` lies among the input positions. Far outside is outside, and NaN, which
// no sound scale gives, counts as left of everything.
double sourcePosition(Coordinates coordinates, const ResizedDimension& dimension, int64_t x);

// The left neighbour is strictly left of a position, which lies `ratio` in (0, 1] after it.
struct Neighbour {
  int64_t left;
  double ratio;
  explicit Neighbour(double position);
};

// Whether the right neighbour is the nearest.
bool picksRight(Nearest nearest, double ratio);

}  // namespace camshaft::cpu::sample
