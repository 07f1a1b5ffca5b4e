// Elements read at positions from a tensor: kWidth neighbouring outputs, the first at coordinates
// `at`. What lies outside is zero.
template <int kWidth, class T, class Store>
__device__ __forceinline__ void moveFrom(const T* x, Index from, bool isInside, Index first,
                                         Store store) {
  Vector<T, kWidth> moved{};
  if (isInside) moved = loadVector<kWidth>(x + from);
  store(first, moved.v);
}

// Along the middle dimension of [outer, size, inner].
template <int kWidth, class T, class I, class Store>
__device__ __forceinline__ void gather(const T* x, const I* indices, Index size, Index inner,
                                       const Coordinates<3>& at, Index first, Store store) {
  const Index position = positionOf(indices[at[1]], size);
  moveFrom<kWidth>(x, (at[0] * size + position) * inner + at[2], position >= 0, first, store);
}

// Bit i of kShorter: dimension i of x may be shorter than that of the indices.
template <int kAxis, unsigned kShorter, int kRank, class T, class I, class Store>
__device__ __forceinline__ void gatherElements(const T* x, const I* indices,
                                               const Index (&sizes)[kRank],
                                               const Index (&strides)[kRank], Coordinates<kRank> at,
                                               Index first, Store store) {
  at.c[kAxis] = positionOf(indices[first], sizes[kAxis]);
  moveFrom<1>(x, positionAt(at, strides), isInside<kAxis, kShorter>(at, sizes), first, store);
}

// Tuples of kLength indices into the dimensions after those of the batch; views are [batch, tuples,
// inner].
template <int kWidth, int kLength, class T, class I, class Store>
__device__ __forceinline__ void gatherND(const T* x, const I* indices, Index tuples,
                                         Index batchStride, const Index (&sizes)[kLength],
                                         const Index (&strides)[kLength], const Coordinates<3>& at,
                                         Index first, Store store) {
  const Index from = positionOfTuple(indices + (at[0] * tuples + at[1]) * kLength, sizes, strides);
  moveFrom<kWidth>(x, at[0] * batchStride + from + at[2], from >= 0, first, store);
}

// Views are [outer, one axis, between, the other, inner]. A length outside of the time steps counts
// as the nearest that is not.
template <int kWidth, bool kTimeFirst, class T, class I, class Store>
__device__ __forceinline__ void reverseSequence(const T* x, const I* lengths, Index steps,
                                                Index stride, const Coordinates<5>& at, Index first,
                                                Store store) {
  const Index step = at[kTimeFirst ? 1 : 3];
  const long long asked = static_cast<long long>(lengths[at[kTimeFirst ? 3 : 1]]);
  const Index length = Index(asked < 0 ? 0 : asked < steps ? asked : steps);
  const Index source = step < length ? length - 1 - step : step;
  const auto moved = loadVector<kWidth>(x + first + (source - step) * stride);
  store(first, moved.v);
}
