// The patches of the input under output pixels, laid out as rows of a matrix.
#pragma once

#include "backends/cpu/conv/conv.h"

namespace camshaft::cpu {

// Writes, for output pixels [pixel, pixel + count) of the batch, the kernel's height x width x
// channels values from `input` on, zero outside the image, at `rows`.
void gatherPatches(const ConvShape& shape, const ConvExtent& extent, const float* input,
                   int64_t channels, int64_t pixel, int64_t count, float* rows);
// The same of 16-bit values.
void gatherPatches(const ConvShape& shape, const ConvExtent& extent, const uint16_t* input,
                   int64_t channels, int64_t pixel, int64_t count, uint16_t* rows);

}  // namespace camshaft::cpu
