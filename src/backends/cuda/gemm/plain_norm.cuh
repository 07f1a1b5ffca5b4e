// Rows of a matrix that are normalised as a tile of a product reads them. Follows plain.cuh.

template <class T>
struct RowMoments {
  T mean, factor;
};

// Of the rows [first, first + kRows) of x, by all threads of the block; each row is read twice, so
// that large means cost no digits.
template <class T, int kRows, bool kCentres, class X>
__device__ __forceinline__ void findMoments(RowMoments<T> (&moments)[kRows], const X* x,
                                            Index first, Index rows, Index depth, T epsilon) {
  const int lane = threadIdx.x % 32, warps = blockDim.x / 32;
  for (int i = threadIdx.x / 32; i < kRows; i += warps) {
    const X* const row = x + min(first + i, rows - 1) * depth;
    T mean = 0, spread = 0;
    if (kCentres) {
      for (Index k = lane; k < depth; k += 32) mean += toCompute(row[k]);
      mean = warpReduce(mean, Sum()) / T(depth);
    }
    for (Index k = lane; k < depth; k += 32) {
      const T away = toCompute(row[k]) - mean;
      spread += away * away;
    }
    const T factor = T(1) / sqrt(warpReduce(spread, Sum()) / T(depth) + epsilon);
    if (lane == 0) moments[i] = {mean, factor};
  }
  __syncthreads();
}
