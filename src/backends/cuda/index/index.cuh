// Where indices lead, in a tensor of given sizes and strides.

// Whether coordinates, of which that of kAxis is a position, are inside. Bit i of kShorter:
// dimension i may be shorter than what the coordinates count through.
template <int kAxis, unsigned kShorter, int kRank>
__device__ __forceinline__ bool isInside(const Coordinates<kRank>& at,
                                         const Index (&sizes)[kRank]) {
  bool result = at[kAxis] >= 0;
#pragma unroll
  for (int i = 0; i < kRank; ++i)
    if (i != kAxis && (kShorter >> i & 1)) result &= at[i] < sizes[i];
  return result;
}

// Of a tuple of kLength indices; -1 when one is outside.
template <int kLength, class I>
__device__ __forceinline__ Index positionOfTuple(const I* tuple, const Index (&sizes)[kLength],
                                                 const Index (&strides)[kLength]) {
  Index from = 0;
  bool isOutside = false;
#pragma unroll
  for (int i = 0; i < kLength; ++i) {
    const Index at = positionOf(tuple[i], sizes[i]);
    isOutside |= at < 0;
    from += at * strides[i];
  }
  return isOutside ? Index(-1) : from;
}
