// What the windows over the element at [n, c, spatial...] hold for it. Columns are [n, c * taps,
// windows], of which there are counts[i] along spatial dimension i.
template <class... W, class T, int kSpatial, int kRank>
__device__ __forceinline__ Compute<T> foldColumns(Windows<W...> image, const T* columns,
                                                  Index channels, Index windows,
                                                  const Index (&counts)[kSpatial],
                                                  const Coordinates<kRank>& place) {
  const Index column = (place[0] * channels + place[1]) * Windows<W...>::kTaps;
  Compute<T> sum = 0;
  visitTaps<Windows<W...>::kUnroll>(
      image,
      [&](auto w, int i, int k, Index& at) {
        at = decltype(w)::windowAt(place[2 + i], k);
        return at >= 0 && at < counts[i];
      },
      [&](int tap, const Coordinates<kSpatial>& at) {
        Index window = 0;
#pragma unroll
        for (int i = 0; i < kSpatial; ++i) window = window * counts[i] + at[i];
        sum += toCompute(columns[(column + tap) * windows + window]);
      });
  return sum;
}
