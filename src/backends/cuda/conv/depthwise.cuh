// The elements of a register as floats, less what stands for zero.
__device__ __forceinline__ void widen(f16, unsigned pair, int, float* values) {
#ifdef CAMSHAFT_EMULATOR
  values[0] = toCompute(f16{static_cast<unsigned short>(pair)});
  values[1] = toCompute(f16{static_cast<unsigned short>(pair >> 16)});
#else
  asm("{\n.reg .f16 l, h;\nmov.b32 {l, h}, %2;\ncvt.f32.f16 %0, l;\ncvt.f32.f16 %1, h;\n}"
      : "=f"(values[0]), "=f"(values[1])
      : "r"(pair));
#endif
}
__device__ __forceinline__ void widen(bf16, unsigned pair, int, float* values) {
  values[0] = __uint_as_float(pair << 16);
  values[1] = __uint_as_float(pair & 0xffff0000u);
}
// A byte in the low bits of 2^23 as a float is added to it, which is cheaper than a conversion.
__device__ __forceinline__ void widen(unsigned char, unsigned four, int zero, float* values) {
  constexpr unsigned kLarge = 0x4b000000u;
  const float start = 8388608.0f + static_cast<float>(zero);
#pragma unroll
  for (int i = 0; i < 4; ++i)
    values[i] = __uint_as_float(kLarge | (four >> (8 * i) & 0xffu)) - start;
}
__device__ __forceinline__ void widen(signed char, unsigned four, int zero, float* values) {
  widen(static_cast<unsigned char>(0), four ^ 0x80808080u, zero + 128, values);
}

// kWidth elements as registers hold them: what may be padding instead is best not taken apart.
template <class T, int kWidth>
struct Packed {
  static constexpr int kTogether = 4 / sizeof(T);  // in a register
  static constexpr bool kHasWords = kTogether > 1 && kWidth % kTogether == 0;
  using Word = std::conditional_t<kHasWords, unsigned, T>;
  static constexpr int kWords = kHasWords ? kWidth / kTogether : kWidth;
  Vector<Word, kWords> words;

  __device__ __forceinline__ static Packed load(const T* from) {
    return {*reinterpret_cast<const Vector<Word, kWords>*>(from)};
  }
  // All zero, which is 0 where elements are not bytes.
  __device__ __forceinline__ static Packed padding(int zero) {
    Packed result{};
    if constexpr (sizeof(T) == 1) {
#pragma unroll
      for (auto& word : result.words.v)
        word = static_cast<Word>(0x01010101u * static_cast<unsigned char>(zero));
    }
    return result;
  }
  __device__ __forceinline__ void widenTo(float (&values)[kWidth], int zero) const {
    if constexpr (kHasWords) {
#pragma unroll
      for (int i = 0; i < kWords; ++i) widen(T{}, words.v[i], zero, values + kTogether * i);
    } else {
#pragma unroll
      for (int i = 0; i < kWidth; ++i)
        values[i] = static_cast<float>(toCompute(words.v[i])) - static_cast<float>(zero);
    }
  }
};

// What a depthwise convolution is laid over: threads down and across, the image and the result.
struct DepthwiseSizes {
  Index down, across, height, breadth, outHeight, outBreadth;
};

// Windows of a depthwise convolution, channels last. A thread adds up kRows x kColumns neighbouring
// results of kWidth channels, so that what it reads of a row of the image serves all of them.
template <int kWidth, int kRows, int kColumns, class Y, class X>
struct DepthwiseWindow {
  static constexpr int kKernelY = Y::kKernel, kKernelX = X::kKernel, kStrideY = Y::kStride,
                       kStrideX = X::kStride, kDilationY = Y::kDilation, kDilationX = X::kDilation;
  static constexpr int kHeight = (kRows - 1) * kStrideY + (kKernelY - 1) * kDilationY + 1;
  static constexpr int kBreadth = (kColumns - 1) * kStrideX + (kKernelX - 1) * kDilationX + 1;
  static constexpr int kProducts = kWidth * kRows * kColumns * kKernelY * kKernelX;
  static constexpr int kUnroll = kProducts <= 2048 ? kHeight : 1;

  // Row `y` of the window with row `tap` of the kernel into one row of results.
  template <class T>
  __device__ __forceinline__ static void addRow(float (&sums)[kColumns][kWidth],
                                                const Packed<T, kWidth> (&row)[kBreadth],
                                                const float* weights, int channels, int zero) {
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
      row[x].widenTo(values, zero);
#pragma unroll
      for (int k = 0; k < kKernelX; ++k) {
        const int first = x - k * kDilationX;
        if (first < 0 || first % kStrideX != 0 || first / kStrideX >= kColumns) continue;
#pragma unroll
        for (int v = 0; v < kWidth; ++v) sums[first / kStrideX][v] += values[v] * factors[k][v];
      }
    }
  }

  // `image` and `weights` (kernel, channels) at the thread's first channel; (top, left) is where
  // the window begins, maybe outside the image, where all is `zero`.
  template <class T>
  __device__ __forceinline__ static void add(float (&sums)[kRows][kColumns][kWidth], const T* image,
                                             const float* weights, int channels, int zero,
                                             Index top, Index left, Index height, Index breadth) {
#pragma unroll kUnroll
    for (int y = 0; y < kHeight; ++y) {
      if (kRows == 1 && y % kDilationY != 0) continue;
      const bool isRow = top + y >= 0 && top + y < height;
      const T* const from = image + ((top + y) * breadth + left) * channels;
      Packed<T, kWidth> row[kBreadth];
#pragma unroll
      for (int x = 0; x < kBreadth; ++x) {
        row[x] = Packed<T, kWidth>::padding(zero);
        if (isRow && left + x >= 0 && left + x < breadth)
          row[x] = Packed<T, kWidth>::load(from + x * channels);
      }
#pragma unroll
      for (int r = 0; r < kRows; ++r) {
        const int first = y - r * kStrideY;
        if (first < 0 || first % kDilationY != 0 || first / kDilationY >= kKernelY) continue;
        addRow(sums[r], row, weights + first / kDilationY * kKernelX * channels, channels, zero);
      }
    }
  }

  // Neighbouring threads have neighbouring channels as far as kLanes vectors go, then neighbouring
  // places, which share weights. bias may be null; store(pixel, channel, results). Sums of few
  // products of bytes are exact as floats.
  template <class Result, int kThreads, int kLanes, int kVectors, class T, class B, class Store>
  __device__ __forceinline__ static void run(const T* x, const float* weights, B bias, int zero,
                                             Index threads, const DepthwiseSizes& sizes,
                                             Store store) {
    constexpr int kChannels = kVectors * kWidth;
    const Index thread = Index(blockIdx.x) * kThreads + threadIdx.x;
    if (thread >= threads) return;
    const auto at = coordinatesOf(
        thread, {1, Index(kVectors / kLanes), sizes.down, sizes.across, Index(kLanes)});
    const Index n = at[0], row = at[2] * kRows, column = at[3] * kColumns;
    const Index c = (at[1] * kLanes + at[4]) * kWidth;
    float sums[kRows][kColumns][kWidth];
#pragma unroll
    for (int v = 0; v < kWidth; ++v) {
      float start = 0;
      if constexpr (!std::is_same_v<B, decltype(nullptr)>) start = toCompute(bias[c + v]);
#pragma unroll
      for (int i = 0; i < kRows; ++i)
#pragma unroll
        for (int j = 0; j < kColumns; ++j) sums[i][j][v] = start;
    }
    add(sums, x + n * sizes.height * sizes.breadth * kChannels + c, weights + c, kChannels, zero,
        Y::tapAt(row, 0), X::tapAt(column, 0), sizes.height, sizes.breadth);
    const auto visit = [&](auto f) {
#pragma unroll
      for (int i = 0; i < kRows; ++i)
#pragma unroll
        for (int j = 0; j < kColumns; ++j)
          if (row + i < sizes.outHeight && column + j < sizes.outBreadth)
            f(i, j, (n * sizes.outHeight + row + i) * sizes.outBreadth + column + j);
    };
    Result results[kWidth];
    decltype(store.elementsOf(n, c, results)) elements[kRows][kColumns];
    visit([&](int i, int j, Index pixel) {
#pragma unroll
      for (int v = 0; v < kWidth; ++v) results[v] = static_cast<Result>(sums[i][j][v]);
      elements[i][j] = store.elementsOf(pixel, c, results);
    });
    visit([&](int i, int j, Index pixel) { store.write(pixel, c, elements[i][j]); });
  }
};
