// Sums of groups by dot products of four channels, bytes as u8.
//
// Before this file, in a namespace of its own, stand CAMSHAFT_TARGET, Vector with kLanes of 32
// bits, kGroupPixels (at a time), Places, which quads of a stretch of the picture the lanes find,
// loadPlaces() of these, sameQuad() for all lanes, flipped(), which makes i8 u8, Quads, which
// taken() makes of bytes, loadFilters(), addDots() of these, zero() and storeSums().
constexpr int kGroupVectors = 2;  // at a time

// kSpread: the lanes of a vector may be of several groups.
template <bool kSigned, bool kSpread>
CAMSHAFT_TARGET void sumGroups(const GroupBlock& block, int64_t pixel, int64_t column) {
  Vector sum[kGroupPixels][kGroupVectors];
#pragma GCC unroll 8
  for (int p = 0; p < kGroupPixels; ++p)
#pragma GCC unroll 2
    for (int v = 0; v < kGroupVectors; ++v) sum[p][v] = zero();
  const int32_t* firsts = block.firsts + column;
  const Places places[kGroupVectors] = {Places(firsts), Places(firsts + kLanes)};
  const int8_t* filters = block.filters + column * 4;
  const uint8_t* const* taps = block.taps + pixel;
  for (int64_t tap = 0; tap < block.tapCount; ++tap, taps += kDepthwisePixels) {
    for (int64_t quad = 0; quad < block.quads; ++quad, filters += kBlockColumns * 4) {
#pragma GCC unroll 8
      for (int p = 0; p < kGroupPixels; ++p)
#pragma GCC unroll 2
        for (int v = 0; v < kGroupVectors; ++v) {
          const uint8_t* from = taps[p] + firsts[v * kLanes] + quad * 4;
          Vector x = kSpread ? loadPlaces(from, places[v]) : sameQuad(from);
          if (kSigned) x = flipped(x);
          sum[p][v] = addDots(sum[p][v], taken(x), loadFilters(filters + v * kLanes * 4));
        }
    }
  }
#pragma GCC unroll 8
  for (int p = 0; p < kGroupPixels; ++p)
#pragma GCC unroll 2
    for (int v = 0; v < kGroupVectors; ++v)
      storeSums(block.sums + (pixel + p) * kBlockColumns + column + v * kLanes, sum[p][v]);
}

template <bool kSigned>
CAMSHAFT_TARGET void sumColumns(const GroupBlock& block) {
  for (int64_t column = 0; column < kBlockColumns; column += kGroupVectors * kLanes) {
    const int32_t* firsts = block.firsts + column;
    const bool spreads =
        firsts[0] != firsts[kLanes - 1] || firsts[kLanes] != firsts[kGroupVectors * kLanes - 1];
    for (int64_t pixel = 0; pixel < kDepthwisePixels; pixel += kGroupPixels)
      spreads ? sumGroups<kSigned, true>(block, pixel, column)
              : sumGroups<kSigned, false>(block, pixel, column);
  }
}

CAMSHAFT_TARGET void sumAnyGroups(const GroupBlock& block) {
  block.isSigned ? sumColumns<true>(block) : sumColumns<false>(block);
}
