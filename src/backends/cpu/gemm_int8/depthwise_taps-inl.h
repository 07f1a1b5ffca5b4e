// Depthwise sums by dot products of four taps of eight channels, bytes as u8.
//
// Before this file, in a namespace of its own, stand CAMSHAFT_TARGET, CAMSHAFT_INLINE, kVectors (of
// eight channels at a time: of the four of a block, as many as leave registers for their sums),
// loadSome(), Quads, which taken() makes of a vector of the picture's bytes once for several
// products, and addDots() of these and filters.
constexpr int kPixels = 4;  // at a time
constexpr int64_t kQuadBytes = kBlockColumns * 4;
static_assert(kBlockColumns / 8 % kVectors == 0);

// The channels of four taps, side by side: of the vectors from `first` on, whose channels unpacking
// puts there.
template <bool kSigned, bool kWhole>
CAMSHAFT_INLINE void loadQuads(const uint8_t* const* taps, const DepthwiseBlock& block, int first,
                               Quads (&quads)[kVectors]) {
  __m256i x[4];
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    const uint8_t* from = taps[i * kDepthwisePixels] + block.channel;
    x[i] = kWhole ? _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from))
                  : loadSome(from, block.channels);
    if (kSigned) x[i] = _mm256_xor_si256(x[i], _mm256_set1_epi8(static_cast<char>(0x80)));
  }
#pragma GCC unroll 2
  for (int i = 0; i < kVectors; i += 2) {
    const bool isHigh = first + i > 0;
    const __m256i a = isHigh ? _mm256_unpackhi_epi8(x[0], x[1]) : _mm256_unpacklo_epi8(x[0], x[1]);
    const __m256i b = isHigh ? _mm256_unpackhi_epi8(x[2], x[3]) : _mm256_unpacklo_epi8(x[2], x[3]);
    quads[i] = taken(_mm256_unpacklo_epi16(a, b));
    quads[i + 1] = taken(_mm256_unpackhi_epi16(a, b));
  }
}

CAMSHAFT_INLINE void addAllDots(__m256i (&sum)[kVectors], const Quads (&quads)[kVectors],
                                const int8_t* filter) {
#pragma GCC unroll 4
  for (int i = 0; i < kVectors; ++i)
    sum[i] = addDots(sum[i], quads[i],
                     _mm256_loadu_si256(reinterpret_cast<const __m256i*>(filter + i * 32)));
}

// Neighbours: each column of the picture is unpacked once, for all windows that it is part of.
template <bool kSigned, bool kWhole>
CAMSHAFT_INLINE void sumColumns(const DepthwiseBlock& block, int64_t group, int first,
                                __m256i (&sum)[kPixels][kVectors]) {
  const int64_t perColumn = block.columnTaps, width = block.tapCount / perColumn;
  const auto* filters = static_cast<const int8_t*>(block.filters) + first * 32;
  for (int64_t column = 0; column < width + kPixels - 1; ++column) {
    const int64_t pixel = column < kPixels ? column : kPixels - 1;
    const uint8_t* const* from =
        block.taps + group + (column - pixel) * perColumn * kDepthwisePixels + pixel;
    for (int64_t row = 0; row < perColumn; row += 4, from += 4 * kDepthwisePixels) {
      Quads quads[kVectors];
      loadQuads<kSigned, kWhole>(from, block, first, quads);
#pragma GCC unroll 4
      for (int p = 0; p < kPixels; ++p)
        if (const int64_t tap = column - p; tap >= 0 && tap < width)
          addAllDots(sum[p], quads, filters + (tap * perColumn + row) / 4 * kQuadBytes);
    }
  }
}

// Whatever the windows are.
template <bool kSigned, bool kWhole>
CAMSHAFT_INLINE void sumWindows(const DepthwiseBlock& block, int64_t group, int first,
                                __m256i (&sum)[kPixels][kVectors]) {
  const auto* filters = static_cast<const int8_t*>(block.filters) + first * 32;
  const uint8_t* const* taps = block.taps + group;
  for (int64_t tap = 0; tap < block.tapCount;
       tap += 4, taps += 4 * kDepthwisePixels, filters += kQuadBytes) {
#pragma GCC unroll 4
    for (int p = 0; p < kPixels; ++p) {
      Quads quads[kVectors];
      loadQuads<kSigned, kWhole>(taps + p, block, first, quads);
      addAllDots(sum[p], quads, filters);
    }
  }
}

template <bool kSigned, bool kWhole, int kFirst>
CAMSHAFT_TARGET void sumVectors(const DepthwiseBlock& block) {
  for (int64_t group = 0; group < kDepthwisePixels; group += kPixels) {
    __m256i sum[kPixels][kVectors];
#pragma GCC unroll 4
    for (int p = 0; p < kPixels; ++p)
#pragma GCC unroll 4
      for (int i = 0; i < kVectors; ++i) sum[p][i] = _mm256_setzero_si256();
    if (block.shares[group / kPixels])
      sumColumns<kSigned, kWhole>(block, group, kFirst, sum);
    else
      sumWindows<kSigned, kWhole>(block, group, kFirst, sum);
#pragma GCC unroll 4
    for (int p = 0; p < kPixels; ++p)
#pragma GCC unroll 4
      for (int i = 0; i < kVectors; ++i) {
        int32_t* to = block.sums + (group + p) * kBlockColumns + (kFirst + i) * 4;
        _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm256_castsi256_si128(sum[p][i]));
        _mm_storeu_si128(reinterpret_cast<__m128i*>(to + 16),
                         _mm256_extracti128_si256(sum[p][i], 1));
      }
  }
}

template <bool kSigned, bool kWhole>
void sumBlock(const DepthwiseBlock& block) {
  sumVectors<kSigned, kWhole, 0>(block);
  if constexpr (kVectors < kBlockColumns / 8) sumVectors<kSigned, kWhole, kVectors>(block);
}

void sumAnyBlock(const DepthwiseBlock& block) {
  if (block.isSigned)
    block.channels == kBlockColumns ? sumBlock<true, true>(block) : sumBlock<true, false>(block);
  else
    block.channels == kBlockColumns ? sumBlock<false, true>(block) : sumBlock<false, false>(block);
}
