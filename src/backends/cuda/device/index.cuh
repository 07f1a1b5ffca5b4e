// The position an index means in a dimension; negative ones count from the end. -1 when it is
// outside, which ends a run on the CPU: here such elements are read as zero and not written.
template <class I>
__device__ __forceinline__ Index positionOf(I index, Index size) {
  const long long at = static_cast<long long>(index);
  const long long position = at < 0 ? at + size : at;
  return position < 0 || position >= size ? Index(-1) : Index(position);
}
