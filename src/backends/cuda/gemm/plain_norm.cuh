// Rows of a matrix that are normalised as a tile of a product reads them. Follows plain.cuh.

template <class T>
struct NormedRow {
  T mean, factor;
};

// Of the rows [first, first + kRows), by all threads of the block, from the moments of their blocks
// of 32 elements.
template <class T, int kRows, bool kCentres>
__device__ __forceinline__ void findMoments(NormedRow<T> (&rows)[kRows], const float* moments,
                                            Index first, Index count, Index depth, T epsilon) {
  const Index blocks = depth / 32;
  for (int i = threadIdx.x; i < kRows; i += blockDim.x) {
    const float* const own = moments + min(first + i, count - 1) * blocks * 2;
    T mean = 0, spread = 0;
    for (Index block = 0; kCentres && block < blocks; ++block) mean += own[block * 2] / T(blocks);
    for (Index block = 0; block < blocks; ++block) {
      const T away = own[block * 2] - mean;
      spread += own[block * 2 + 1] + 32 * away * away;
    }
    rows[i] = {mean, T(1) / sqrt(spread / T(depth) + epsilon)};
  }
  __syncthreads();
}
