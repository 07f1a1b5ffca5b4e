template <int kCount, class T>
__device__ __forceinline__ void writeSizes(T* y, const long long (&sizes)[kCount]) {
#pragma unroll
  for (int i = 0; i < kCount; ++i) y[i] = toStorage<T>(static_cast<Compute<T>>(sizes[i]));
}

// The sizes that a reshape asks for, where 0 keeps one of the input's, and -1 is what remains of
// its `total` elements. A shape that cannot be, which ends a run on the CPU, gives sizes that
// BindDims then refuses.
template <bool kAllowZero, int kCount, class I, class O>
__device__ __forceinline__ void reshapeDims(const I* asked, const long long (&input)[kCount],
                                            long long total, O* y) {
  long long known = 1;
  int rest = -1;
#pragma unroll
  for (int i = 0; i < kCount; ++i) {
    long long size = static_cast<long long>(asked[i]);
    if (!kAllowZero && size == 0) size = input[i];
    if (size == -1 && rest < 0)
      rest = i;
    else
      known *= size;
    y[i] = size;
  }
  if (rest >= 0) y[rest] = known > 0 && total % known == 0 ? total / known : -1;
}
