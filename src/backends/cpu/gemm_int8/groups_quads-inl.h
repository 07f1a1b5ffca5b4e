// Sums of groups by dot products of four channels, bytes as u8.
//
// Before this file, in a namespace of its own, stand CAMSHAFT_TARGET, CAMSHAFT_INLINE, Vector with
// kLanes of 32 bits, kPixels (at a time), Places, which quads of a stretch of the picture the lanes
// find, loadPlaces() of these, sameQuad() for all lanes, Quads, which taken() makes of bytes once
// for several products, addDots() of these and filters, flipped(), which makes i8 u8, zero() and
// storeSums().
constexpr int kGroupVectors = 2;  // at a time

// kSpread: the lanes of a vector may be of several groups.
template <bool kSigned, bool kSpread>
CAMSHAFT_TARGET void sumGroups(const GroupBlock& block, int64_t pixel, int64_t column) {
  Vector sum[kPixels][kGroupVectors];
#pragma GCC unroll 8
  for (int p = 0; p < kPixels; ++p)
#pragma GCC unroll 2
    for (int v = 0; v < kGroupVectors; ++v) sum[p][v] = zero();
  const int32_t* firsts = block.firsts + column;
  const Places places[kGroupVectors] = {Places(firsts), Places(firsts + kLanes)};
  const int8_t* filters = block.filters + column * 4;
  const uint8_t* const* taps = block.taps + pixel;
  for (int64_t tap = 0; tap < block.tapCount; ++tap, taps += kDepthwisePixels) {
    for (int64_t quad = 0; quad < block.quads; ++quad, filters += kBlockColumns * 4) {
#pragma GCC unroll 8
      for (int p = 0; p < kPixels; ++p)
#pragma GCC unroll 2
        for (int v = 0; v < kGroupVectors; ++v) {
          const uint8_t* from = taps[p] + firsts[v * kLanes] + quad * 4;
          Vector x = kSpread ? loadPlaces(from, places[v]) : sameQuad(from);
          if (kSigned) x = flipped(x);
          sum[p][v] = addDots(sum[p][v], taken(x), filters + v * kLanes * 4);
        }
    }
  }
#pragma GCC unroll 8
  for (int p = 0; p < kPixels; ++p)
#pragma GCC unroll 2
    for (int v = 0; v < kGroupVectors; ++v)
      storeSums(block.sums + (pixel + p) * kBlockColumns + column + v * kLanes, sum[p][v]);
}

template <bool kSigned>
CAMSHAFT_TARGET void sumBlock(const GroupBlock& block) {
  for (int64_t column = 0; column < kBlockColumns; column += kGroupVectors * kLanes) {
    const int32_t* firsts = block.firsts + column;
    const bool spreads =
        firsts[0] != firsts[kLanes - 1] || firsts[kLanes] != firsts[kGroupVectors * kLanes - 1];
    for (int64_t pixel = 0; pixel < kDepthwisePixels; pixel += kPixels)
      spreads ? sumGroups<kSigned, true>(block, pixel, column)
              : sumGroups<kSigned, false>(block, pixel, column);
  }
}

CAMSHAFT_TARGET void sumAnyBlock(const GroupBlock& block) {
  block.isSigned ? sumBlock<true>(block) : sumBlock<false>(block);
}
