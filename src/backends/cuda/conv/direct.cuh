// A convolution, or a transposed one, as its formula says: kWidth channels of the place `at`, whose
// channels are counted in steps of kWidth. The constants before this text say how weights lie.
// `zero` is what the image has for zero, and its padding; bias may be null. `sizes` and `strides`
// are the image's spatial ones. store(c, results) takes kStored channels at once.
template <int kStored, class Sum, class... W, class T, class F, class B, int kRank, int kSpatial,
          class Store>
__device__ __forceinline__ void convolveDirectly(Windows<W...> image, const T* x, const F* weights,
                                                 B bias, int zero, const Coordinates<kRank>& at,
                                                 const Index (&sizes)[kSpatial],
                                                 const Index (&strides)[kSpatial],
                                                 Index imageStride, Index channelStride,
                                                 Store store) {
  const Index c = at[kChannelAxis] * kWidth, group = c / kGroupOutputs;
  Sum sums[kWidth];
#pragma unroll
  for (int r = 0; r < kWidth; ++r) {
    sums[r] = Sum(0);
    if constexpr (!std::is_same_v<B, decltype(nullptr)>) sums[r] = Sum(toCompute(bias[c + r]));
  }
  const F* const own = weights + group * kGroupStride + c % kGroupOutputs * kOutputStride;
  const T* const plane = x + at[0] * imageStride + group * kGroupInputs * channelStride;
  const auto locate = [&](auto w, int i, int k, Index& tapAt) {
    const Index place = at[kSpatialAxis + i];
    tapAt = kTransposed ? decltype(w)::windowAt(place, k) : decltype(w)::tapAt(place, k);
    return tapAt >= 0 && tapAt < sizes[i];
  };
  visitTaps<1>(image, locate, [&](int tap, const Coordinates<kSpatial>& tapAt) {
    const T* const place = plane + positionAt(tapAt, strides);
    const F* const factors = own + tap * kTapStride;
#pragma unroll 4
    for (int i = 0; i < kGroupInputs; ++i) {
      const Sum value = Sum(toCompute(place[i * channelStride])) - Sum(zero);
#pragma unroll
      for (int r = 0; r < kWidth; ++r)
        sums[r] += value * Sum(toCompute(factors[i * kInputStride + r * kOutputStride]));
    }
  });
  if constexpr (kStored == kWidth) {
    store(c, sums);
  } else {
    Sum results[1];
    decltype(store.elementsOf(c, results)) elements[kWidth];
#pragma unroll
    for (int r = 0; r < kWidth; ++r) {
      results[0] = sums[r];
      elements[r] = store.elementsOf(c + r, results);
    }
#pragma unroll
    for (int r = 0; r < kWidth; ++r) store.write(c + r, elements[r]);
  }
}
