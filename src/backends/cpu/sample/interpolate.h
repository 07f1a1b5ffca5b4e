// Bilinear interpolation, of f32 and of bytes, row by row.
#pragma once

#include <cstdint>

namespace camshaft::cpu::sample {

// y = weights of the four corners, over `count` elements that lie together.
void blendCorners(const float* topLeft, const float* topRight, const float* bottomLeft,
                  const float* bottomRight, float right, float bottom, float* y, int64_t count);

// y = top + (bottom - top) * weight, of bytes that are u8 after `flip`.
void blendRows(const uint8_t* top, const uint8_t* bottom, uint8_t flip, float weight, float* y,
               int64_t count);
// y = left + (right - left) * weight, rounded half to even, flipped.
void blendToBytes(const float* left, const float* right, float weight, uint8_t flip, uint8_t* y,
                  int64_t count);

}  // namespace camshaft::cpu::sample
