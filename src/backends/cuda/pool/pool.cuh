// What a pooling window does with its elements: take() each, also those that are not inside the
// image (whose value is any), then finish() with how many there were to average over.

// NaNs lose to numbers.
template <class T>
struct MaxPooling {
  using Value = T;
  T best;
  bool isEmpty = true;
  __device__ MaxPooling() {
    if constexpr (std::is_floating_point_v<T>)
      best = T(__int_as_float(0x7fffffff));
    else
      best = std::numeric_limits<T>::min();
  }
  __device__ __forceinline__ void take(T x, bool isInside, Index) {
    if constexpr (std::is_floating_point_v<T>)
      best = fmax(best, isInside ? x : best);
    else
      best = isInside && x > best ? x : best;
    isEmpty &= !isInside;
  }
  __device__ __forceinline__ T finish(int) const { return isEmpty ? T(0) : best; }
};
// Also where the maximum is; the first of equal ones.
template <class T>
struct IndexedMaxPooling {
  using Value = T;
  T best = T(0);
  Index at = 0;
  bool isEmpty = true;
  __device__ __forceinline__ void take(T x, bool isInside, Index position) {
    if (!isInside || !(isEmpty || x > best || (best != best && x == x))) return;
    best = x;
    at = position;
    isEmpty = false;
  }
  __device__ __forceinline__ T finish(int) const { return best; }
};
template <class T>
struct AveragePooling {
  using Value = T;
  T sum = T(0);
  __device__ __forceinline__ void take(T x, bool isInside, Index) { sum += isInside ? x : T(0); }
  __device__ __forceinline__ T finish(int count) const {
    return count == 0 ? T(0) : sum / T(count);
  }
};
template <class T, int kPower>
struct LpPooling {
  using Value = T;
  T sum = T(0);
  __device__ __forceinline__ void take(T x, bool isInside, Index) {
    const T size = isInside ? fabs(x) : T(0);
    if constexpr (kPower == 1)
      sum += size;
    else if constexpr (kPower == 2)
      sum += size * size;
    else
      sum += pow(size, T(kPower));
  }
  __device__ __forceinline__ T finish(int) const {
    if constexpr (kPower == 1)
      return sum;
    else if constexpr (kPower == 2)
      return sqrt(sum);
    else
      return pow(sum, T(1) / T(kPower));
  }
};

// How many of a window's kernel positions from `start` on lie below `end`, and not below `begin`.
template <int kKernel, int kDilation>
__device__ __forceinline__ int positionsBetween(Index start, Index begin, Index end) {
  int count = 0;
#pragma unroll
  for (int k = 0; k < kKernel; ++k) {
    const Index at = start + k * kDilation;
    count += at >= begin && at < end;
  }
  return count;
}

// Gives all elements of the window at `place` of an image to `window`, one pooling for each of
// kWidth channels. load(i, values) reads them; `steps` number positions. Bit i of kMayLeave: the
// window may reach beyond the image along dimension i, where the nearest element inside is read, so
// that loads depend on no branch. With kNearestIsIn that is an element of the window too, which may
// be taken once more.
template <unsigned kMayLeave, bool kNearestIsIn, class... W, class Pooling, int kWidth, int kRank,
          class Load>
__device__ __forceinline__ void poolWindow(Windows<W...> image, Pooling (&window)[kWidth],
                                           const Coordinates<kRank>& place,
                                           const Index (&sizes)[kRank], const Index (&steps)[kRank],
                                           Load load) {
  const auto locate = [&](auto w, int i, int k, Index& at) {
    at = decltype(w)::tapAt(place[i], k);
    return true;
  };
  visitTaps<Windows<W...>::kUnroll>(image, locate, [&](int, const Coordinates<kRank>& at) {
    Coordinates<kRank> nearest;
    bool isInside = true;
    Index number = 0;
#pragma unroll
    for (int i = 0; i < kRank; ++i) {
      nearest.c[i] = at[i];
      if (kMayLeave >> i & 1) {
        nearest.c[i] = max(Index(0), min(sizes[i] - 1, at[i]));
        // Not "nearest == at": ptxas 13.0 takes that from the clamp, and is wrong where at is 0.
        if (!kNearestIsIn) isInside = isInside && at[i] >= 0 && at[i] < sizes[i];
      }
      number += nearest[i] * steps[i];
    }
    typename Pooling::Value values[kWidth];
    load(nearest, values);
#pragma unroll
    for (int lane = 0; lane < kWidth; ++lane) window[lane].take(values[lane], isInside, number);
  });
}

// How many positions of the window at `place` lie from begins[i] up to ends[i].
template <class... W, int kRank>
__device__ __forceinline__ int tapsBetween(Windows<W...>, const Coordinates<kRank>& place,
                                           const Index (&begins)[kRank],
                                           const Index (&ends)[kRank]) {
  int count = 1, i = 0;
  ((count *= positionsBetween<W::kKernel, W::kDilation>(W::tapAt(place[i], 0), begins[i], ends[i]),
    ++i),
   ...);
  return count;
}

// Where the maxima are among all elements of the input, image by image; `plane` is that of the
// first.
template <bool kLanesArePlanes, class I, class Pooling, int kWidth>
__device__ __forceinline__ void writeIndices(I* indices, const Pooling (&window)[kWidth],
                                             Index plane, Index imageSize) {
#pragma unroll
  for (int lane = 0; lane < kWidth; ++lane)
    indices[lane] = (plane + (kLanesArePlanes ? lane : 0)) * imageSize + window[lane].at;
}
