// Sums of weights that windows have on an image, for zero points: windows that hang over its border
// have some of their taps on it only, and what is outside counts for nothing.
#pragma once

#include <string>
#include <vector>

#include "ops/evaluate.h"
#include "ops/window.h"

namespace camshaft::cuda {

// Windows with the same taps on the image are of one kind.
struct PartialWindows {
  int64_t kinds = 1;
  std::string kindOf;         // text of the kind of place `at.row`, counted through (image, y, x)
  std::vector<int32_t> sums;  // [kinds, outputs]
};

// How many there are.
int64_t countKinds(const std::vector<Window>& windows, const std::vector<int64_t>& sizes);

// `sizes` are those of the images, weights bytes [outputs, channels, kernel...].
PartialWindows partialWindows(const std::vector<Window>& windows, const std::vector<int64_t>& sizes,
                              const HostTensor& weights);

}  // namespace camshaft::cuda
