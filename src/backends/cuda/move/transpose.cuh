// A matrix [rows, columns] of the input that is one of [columns, rows] in the output.
struct TransposedMatrix {
  Index input, output;  // positions of their first elements
  Index rows, columns;
  Index rowStride, columnStride;  // between rows of the input, and of the output
};

// Moves the tile at (row0, column0) through shared memory, so that reads and writes are both along
// consecutive elements. By 256 threads.
template <int kTile, int kWidth, class T, class Store>
__device__ __forceinline__ void transposeTile(const TransposedMatrix& matrix, Index row0,
                                              Index column0, const T* x, Store store) {
  // The pad of one access per line spreads a column over the banks.
  __shared__ __align__(16) T tile[kTile][kTile + kWidth];
  const int across = threadIdx.x % 32 * kWidth;
#pragma unroll
  for (int down = threadIdx.x / 32; down < kTile; down += 8) {
    const Index row = row0 + down, column = column0 + across;
    if (row < matrix.rows && column < matrix.columns)
      storeVector<kWidth>(&tile[down][across],
                          loadVector<kWidth>(x + matrix.input + row * matrix.rowStride + column));
  }
  __syncthreads();
#pragma unroll
  for (int down = threadIdx.x / 32; down < kTile; down += 8) {
    const Index column = column0 + down, row = row0 + across;
    if (column >= matrix.columns || row >= matrix.rows) break;
    T results[kWidth];
#pragma unroll
    for (int lane = 0; lane < kWidth; ++lane) results[lane] = tile[across + lane][down];
    store(matrix.output + column * matrix.columnStride + row, results);
  }
}

// Channels of a few, between planes and pixels: a thread moves kPixels of all channels, `plane`
// elements apart where they lie in planes. kToPixels tells which way.
template <int kPixels, int kChannels, bool kToPixels, class T, class Store>
__device__ __forceinline__ void moveChannels(const T* x, Index plane, Index output, Store store) {
  T pixels[kPixels][kChannels];
#pragma unroll
  for (int i = 0; i < kChannels; ++i) {
    const auto part = loadVector<kPixels>(x + i * (kToPixels ? plane : Index(kPixels)));
#pragma unroll
    for (int lane = 0; lane < kPixels; ++lane) {
      if constexpr (kToPixels)
        pixels[lane][i] = part.v[lane];
      else
        pixels[(i * kPixels + lane) / kChannels][(i * kPixels + lane) % kChannels] = part.v[lane];
    }
  }
#pragma unroll
  for (int i = 0; i < kChannels; ++i) {
    T results[kPixels];
#pragma unroll
    for (int lane = 0; lane < kPixels; ++lane) {
      if constexpr (kToPixels)
        results[lane] = pixels[(i * kPixels + lane) / kChannels][(i * kPixels + lane) % kChannels];
      else
        results[lane] = pixels[lane][i];
    }
    store(output + i * (kToPixels ? Index(kPixels) : plane), results);
  }
}
