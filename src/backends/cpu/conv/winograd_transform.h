// The two linear maps of Winograd's F(4x4, 3x3), applied to all channels of a tile.
#pragma once

#include "backends/cpu/conv/algorithms.h"

namespace camshaft::cpu {

inline constexpr int64_t kWinogradTile = 4;     // output pixels per side
inline constexpr int64_t kWinogradPatch = 6;    // input pixels per side
inline constexpr int64_t kWinogradPoints = 36;  // products per tile and pair of channels

// Tiles cover each image row by row, image after image.
struct WinogradTiles {
  explicit WinogradTiles(const ConvCall& call)
      : perRow((call.outWidth() + kWinogradTile - 1) / kWinogradTile),
        perImage((call.outHeight() + kWinogradTile - 1) / kWinogradTile * perRow),
        total(perImage * call.extent.batch) {}
  int64_t perRow, perImage, total;
};

// Patches of `count` tiles from `tile` on, to transformed[point][count at pointStride][inChannels].
// `zeros` holds inChannels of them, for what lies outside the image.
void winogradInput(const ConvCall& call, int64_t tile, int64_t count, const float* zeros,
                   float* transformed, int64_t pointStride);

// products[point][count][outChannels] back to pixels, with the epilogue.
void winogradOutput(const ConvCall& call, int64_t tile, int64_t count, const float* products,
                    int64_t pointStride);

}  // namespace camshaft::cpu
