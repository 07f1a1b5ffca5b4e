// Moments of rows. Those of A's rows normalise what is multiplied as it is: each warp finds means
// and factors of the 16 rows of each 64 whose products it has, two lanes to a row, before it
// multiplies, while the first copies are on their way. Those of D's rows come from what the
// epilogue stores. Follows tiles.cuh.

// Where a row of the tile has its mean and factor.
__device__ __forceinline__ u32 momentsOf(int row) {
  return momentsBase() + ((kPingPong ? threadIdx.x / 128 * kTileM : 0) + row) * 8;
}

__device__ __forceinline__ float sumOfPair(float x) { return x + __shfl_xor_sync(~0u, x, 1); }

// Means are added up less the first one, so that large ones cost few digits. Mean squares need it.
__device__ __forceinline__ void findRowMoments(const Tile& tile, int firstRow,
                                               const GemmParams& p) {
  constexpr int kBlocks = kRowLength / kMomentColumns;
  const float2* const all = static_cast<const float2*>(p.extra[0]);
  const int lane = threadIdx.x % 32, half = lane % 2;
#pragma unroll
  for (int i = 0; i < kBlocksM; ++i) {
    const int row = firstRow + i * 64 + threadIdx.x / 32 % 4 * 16 + lane / 2;
    const float2* const blocks = all + (long long)min(tile.row + row, p.m - 1) * kBlocks;
    const float pivot = kCentres ? blocks[0].x : 0.0f;
    float means = 0, squares = 0, within = 0;
#pragma unroll 12
    for (int block = half; block < kBlocks; block += 2) {
      const float2 moments = blocks[block];
      const float away = moments.x - pivot;
      means += away;
      squares += away * away;
      within += moments.y;
    }
    means = sumOfPair(means), squares = sumOfPair(squares), within = sumOfPair(within);
    const float mean = kCentres ? means / kBlocks : 0.0f;  // less the pivot
    const float spread = within + kMomentColumns * (squares - mean * means);
    const float factor = rsqrtf(spread / kRowLength + epsilon());
    if (half == 0) storeShared(momentsOf(row), pivot + mean, factor);
    if (half == 0 && p.means && tile.column == 0 && tile.row + row < p.m) {
      p.means[tile.row + row] = pivot + mean;
      p.factors[tile.row + row] = factor;
    }
  }
  __syncwarp();
}

// Four neighbouring lanes have the elements of a block: the first stores their moments. All four
// are there, if not all of the warp.
template <int kOwn>
__device__ __forceinline__ void storeMoments(const float (&own)[kOwn], bool isInside, int row,
                                             int column, const GemmParams& p) {
  static_assert(kOwn * 4 == kMomentColumns);
  const u32 lane = threadIdx.x % 32, quad = 0xfu << (lane & 28);
  const auto sumOfQuad = [&](float x) {
    x += __shfl_xor_sync(quad, x, 1);
    return x + __shfl_xor_sync(quad, x, 2);
  };
  float sum = 0, squares = 0;
#pragma unroll
  for (int i = 0; i < kOwn; ++i) sum += own[i];
  const float mean = sumOfQuad(sum) / kMomentColumns;
#pragma unroll
  for (int i = 0; i < kOwn; ++i) squares += (own[i] - mean) * (own[i] - mean);
  squares = sumOfQuad(squares);
  if (isInside && lane % 4 == 0)
    p.moments[((long long)row * p.n + column) / kMomentColumns] = make_float2(mean, squares);
}
