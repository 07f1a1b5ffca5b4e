// kWidth neighbours of [outer, depth, inner], which lie along depth where inner is 1. `values` are
// those of the others and of the hot one.
template <int kWidth, bool kAlongDepth, class I, class T, class Store>
__device__ __forceinline__ void oneHot(const I* indices, const T* values, Index depth, Index inner,
                                       const Coordinates<3>& at, Index first, Store store) {
  const Index index = at[0] * inner + at[2];
  const T off = values[0], on = values[1];
  T results[kWidth];
#pragma unroll
  for (int lane = 0; lane < kWidth; ++lane) {
    const long long asked = static_cast<long long>(indices[index + (kAlongDepth ? 0 : lane)]);
    const long long hot = asked < 0 ? asked + depth : asked;
    results[lane] = hot == at[1] + (kAlongDepth ? lane : 0) ? on : off;
  }
  store(first, results);
}
