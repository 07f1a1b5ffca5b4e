// What normalises rows of A that are multiplied as they are: their means and factors, for the
// epilogue. A warp adds up the 16 rows of each 64 whose products it has, two lanes to a row, from
// the stages as they pass, while the tensor cores work. Follows tiles.cuh.

// Where a row of the tile has its mean and factor.
__device__ __forceinline__ u32 momentsOf(int row) {
  return momentsBase() + ((kPingPong ? threadIdx.x / 128 * kTileM : 0) + row) * 8;
}

// Of a lane: sums of its half of each row, less the row's first element there, so that large means
// cost few digits.
struct RowSums {
  static constexpr int kHalf = 32;  // elements of a stage's 64
  float pivots[kBlocksM] = {}, sums[kBlocksM] = {}, squares[kBlocksM] = {};

  // Row i of the lane in the tile.
  static __device__ __forceinline__ int rowOf(int i, int firstRow) {
    return firstRow + i * 64 + threadIdx.x / 32 % 4 * 16 + threadIdx.x % 32 / 2;
  }
  static __device__ __forceinline__ float valueOf(const u32 (&words)[kHalf / 2], int i) {
    return toCompute(RowElement{static_cast<unsigned short>(words[i / 2] >> (i % 2 * 16))});
  }

  __device__ __forceinline__ void add(u32 stage, int step, int firstRow) {
    constexpr int kChains = 4;  // sums that do not wait for one another
    const int half = threadIdx.x % 2;
    const bool isThere = kRowLength % 64 == 0 || step * 64 + half * kHalf < kRowLength;
#pragma unroll
    for (int i = 0; i < kBlocksM; ++i) {
      const int row = rowOf(i, firstRow);
      const u32 line = stagesBase() + stage * kStageBytes + row * 128;
      u32 words[kHalf / 2];
#pragma unroll
      for (int j = 0; j < kHalf / 8; ++j)
        loadShared(line + ((half * 4 + j) ^ (row % 8)) * 16, words + j * 4);
      if (kCentres) pivots[i] = step == 0 ? valueOf(words, 0) : pivots[i];
      float partSums[kChains] = {}, partSquares[kChains] = {};
#pragma unroll
      for (int e = 0; e < kHalf; ++e) {
        const float value = valueOf(words, e) - pivots[i], x = isThere ? value : 0.0f;
        if (kCentres) partSums[e % kChains] += x;
        partSquares[e % kChains] += x * x;
      }
      sums[i] += (partSums[0] + partSums[1]) + (partSums[2] + partSums[3]);
      squares[i] += (partSquares[0] + partSquares[1]) + (partSquares[2] + partSquares[3]);
    }
    // Copies may overwrite the stage as soon as a lane says so.
    showToAsync();
    __syncwarp();
  }

  // Means and factors of the warp's rows, where its lanes find them.
  __device__ __forceinline__ void finish(const Tile& tile, int firstRow,
                                         const GemmParams& p) const {
    constexpr float kOdd = kRowLength % 64 != 0 ? kHalf : 0, kEven = kRowLength / 64 * kHalf;
    const bool isFirst = threadIdx.x % 2 == 0;
    const float count = isFirst ? kEven + kOdd : kEven, others = kRowLength - count;
#pragma unroll
    for (int i = 0; i < kBlocksM; ++i) {
      // The halves of a row have means and spreads of their own.
      const float ownMean = count > 0 ? sums[i] / count : 0.0f;
      const float spread = squares[i] - ownMean * sums[i], mean = ownMean + pivots[i];
      const float away = __shfl_xor_sync(~0u, mean, 1) - mean;
      const float share = others / kRowLength;
      const float all = spread + __shfl_xor_sync(~0u, spread, 1) +
                        (kCentres ? away * away * count * share : 0.0f);
      const float rowMean = kCentres ? mean + away * share : 0.0f;
      const float factor = rsqrtf(all / kRowLength + epsilon());
      const int row = rowOf(i, firstRow);
      if (isFirst) storeShared(momentsOf(row), rowMean, factor);
      if (isFirst && p.factors && tile.column == 0 && tile.row + row < p.m) {
        p.means[tile.row + row] = rowMean;
        p.factors[tile.row + row] = factor;
      }
    }
    __syncwarp();
  }
};
