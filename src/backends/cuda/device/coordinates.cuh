// The coordinates of an element in a tensor, from its linear position.
template <int kRank>
struct Coordinates {
  Index c[kRank];
  __device__ __forceinline__ Index operator[](int i) const { return c[i]; }
};

template <int kRank>
__device__ __forceinline__ Coordinates<kRank> coordinatesOf(Index linear,
                                                            const Index (&sizes)[kRank]) {
  Coordinates<kRank> result;
#pragma unroll
  for (int i = kRank - 1; i > 0; --i) {
    result.c[i] = linear % sizes[i];
    linear /= sizes[i];
  }
  result.c[0] = linear;
  return result;
}

// Where the element at these coordinates lies.
template <int kRank>
__device__ __forceinline__ Index positionAt(const Coordinates<kRank>& at,
                                            const Index (&strides)[kRank]) {
  Index position = 0;
#pragma unroll
  for (int i = 0; i < kRank; ++i) position += at[i] * strides[i];
  return position;
}
