// What a pooling window does with its elements: take() each, also those that are not inside the
// image (whose value is any), then finish() with how many there were to average over.

// NaNs lose to numbers.
template <class T>
struct MaxPooling {
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
  T sum = T(0);
  __device__ __forceinline__ void take(T x, bool isInside, Index) { sum += isInside ? x : T(0); }
  __device__ __forceinline__ T finish(int count) const {
    return count == 0 ? T(0) : sum / T(count);
  }
};
template <class T, int kPower>
struct LpPooling {
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
