// Pad, Tile and Trilu: kWidth neighbouring outputs, the first at coordinates `at`. Dimensions that
// an operator leaves alone may be joined.
enum class PadMode { kConstant, kReflect, kEdge, kWrap };

// The position along a dimension that padding at `i` copies, or -1 for the padding value.
template <PadMode kMode>
__device__ __forceinline__ Index padSource(Index i, Index size) {
  if (i >= 0 && i < size) return i;
  if (kMode == PadMode::kConstant || size <= 0) return -1;
  if (kMode == PadMode::kEdge) return i < 0 ? 0 : size - 1;
  const Index period = kMode == PadMode::kWrap ? size : 2 * (size - 1);
  if (period == 0) return 0;  // one element to reflect
  const Index rest = i % period, at = rest < 0 ? rest + period : rest;
  return kMode == PadMode::kWrap || at <= period - at ? at : period - at;
}

// One dimension of a padded tensor.
struct PaddedDim {
  Index begin, size, stride;
  bool isPadded;

  template <PadMode kMode>
  __device__ __forceinline__ Index source(Index at) const {
    return isPadded ? padSource<kMode>(at - begin, size) : at;
  }
};

template <PadMode kMode, int kWidth, bool kPadsRows, int kRank, class T, class Store>
__device__ __forceinline__ void pad(const T* x, T padding, const PaddedDim (&dims)[kRank],
                                    const Coordinates<kRank>& at, Index first, Store store) {
  Index row = 0;
  bool isPadding = false;
#pragma unroll
  for (int i = 0; i < kRank - 1; ++i) {
    const Index source = dims[i].template source<kMode>(at[i]);
    row += source * dims[i].stride;
    isPadding |= source < 0;
  }
  T results[kWidth];
  if constexpr (kPadsRows) {
#pragma unroll
    for (int lane = 0; lane < kWidth; ++lane) {
      const Index source = dims[kRank - 1].template source<kMode>(at[kRank - 1] + lane);
      results[lane] = isPadding || source < 0 ? padding : x[row + source];
    }
  } else {
    Vector<T, kWidth> moved;
    if (!isPadding) moved = loadVector<kWidth>(x + row + at[kRank - 1]);
#pragma unroll
    for (int lane = 0; lane < kWidth; ++lane) results[lane] = isPadding ? padding : moved.v[lane];
  }
  store(first, results);
}

// `sizes` and `strides` are those of the input, whose first dimension is not repeated.
template <int kWidth, int kRank, class T, class Store>
__device__ __forceinline__ void tile(const T* x, const Index (&sizes)[kRank],
                                     const Index (&strides)[kRank], const Coordinates<kRank>& at,
                                     Index first, Store store) {
  Index from = at[0] * strides[0];
#pragma unroll
  for (int i = 1; i < kRank; ++i) from += at[i] % sizes[i] * strides[i];
  const auto moved = loadVector<kWidth>(x + from);
  store(first, moved.v);
}

// Of matrices [at[1], at[2]].
template <bool kUpper, int kWidth, class T, class Store>
__device__ __forceinline__ void trilu(const T* x, Index diagonal, const Coordinates<3>& at,
                                      Index first, Store store) {
  auto moved = loadVector<kWidth>(x + first);
#pragma unroll
  for (int lane = 0; lane < kWidth; ++lane) {
    const Index column = at[2] + lane - at[1];
    if (kUpper ? column < diagonal : column > diagonal) moved.v[lane] = T{};
  }
  store(first, moved.v);
}
