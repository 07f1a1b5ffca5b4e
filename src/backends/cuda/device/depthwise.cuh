// Windows of a depthwise convolution, channels last. A thread adds up kRows x kColumns neighbouring
// results of kWidth channels, so that what it reads of a row of the image serves all of them.
template <int kWidth, int kRows, int kColumns, int kKernelY, int kKernelX, int kStrideY, int kStrideX,
          int kDilationY, int kDilationX>
struct DepthwiseWindow {
  static constexpr int kHeight = (kRows - 1) * kStrideY + (kKernelY - 1) * kDilationY + 1;
  static constexpr int kBreadth = (kColumns - 1) * kStrideX + (kKernelX - 1) * kDilationX + 1;
  static constexpr int kProducts = kWidth * kRows * kColumns * kKernelY * kKernelX;
  static constexpr int kUnroll = kProducts <= 2048 ? kHeight : 1;

  // Row `y` of the window with row `tap` of the kernel into one row of results.
  template <class T>
  __device__ __forceinline__ static void addRow(float (&sums)[kColumns][kWidth],
                                                const Vector<T, kWidth> (&row)[kBreadth],
                                                const float* weights, int channels) {
    float factors[kKernelX][kWidth];
#pragma unroll
    for (int k = 0; k < kKernelX; ++k) {
      const auto loaded = loadVector<kWidth>(weights + k * channels);
#pragma unroll
      for (int v = 0; v < kWidth; ++v) factors[k][v] = loaded.v[v];
    }
#pragma unroll
    for (int x = 0; x < kBreadth; ++x) {
      float values[kWidth];
#pragma unroll
      for (int v = 0; v < kWidth; ++v) values[v] = toCompute(row[x].v[v]);
#pragma unroll
      for (int k = 0; k < kKernelX; ++k) {
        const int first = x - k * kDilationX;
        if (first < 0 || first % kStrideX != 0 || first / kStrideX >= kColumns) continue;
#pragma unroll
        for (int v = 0; v < kWidth; ++v) sums[first / kStrideX][v] += values[v] * factors[k][v];
      }
    }
  }

  // `image` and `weights` (kernel, channels) at the thread's first channel; (top, left) is where the
  // window begins, maybe outside the image.
  template <class T>
  __device__ __forceinline__ static void add(float (&sums)[kRows][kColumns][kWidth], const T* image,
                                             const float* weights, int channels, Index top, Index left,
                                             Index height, Index breadth) {
#pragma unroll kUnroll
    for (int y = 0; y < kHeight; ++y) {
      if (kRows == 1 && y % kDilationY != 0) continue;
      const bool isRow = top + y >= 0 && top + y < height;
      const T* const from = image + ((top + y) * breadth + left) * channels;
      Vector<T, kWidth> row[kBreadth];
#pragma unroll
      for (int x = 0; x < kBreadth; ++x) {
        row[x] = Vector<T, kWidth>{};
        if (isRow && left + x >= 0 && left + x < breadth)
          row[x] = loadVector<kWidth>(from + x * channels);
      }
#pragma unroll
      for (int r = 0; r < kRows; ++r) {
        const int first = y - r * kStrideY;
        if (first < 0 || first % kDilationY != 0 || first / kDilationY >= kKernelY) continue;
        addRow(sums[r], row, weights + first / kDilationY * kKernelX * channels, channels);
      }
    }
  }
};
