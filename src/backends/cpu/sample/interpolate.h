// Bilinear interpolation.
#pragma once

#include <cstdint>

namespace camshaft::cpu::sample {

// y = weights of the four corners, over `count` elements that lie together.
void blendCorners(const float* topLeft, const float* topRight, const float* bottomLeft,
                  const float* bottomRight, float right, float bottom, float* y, int64_t count);

}  // namespace camshaft::cpu::sample
