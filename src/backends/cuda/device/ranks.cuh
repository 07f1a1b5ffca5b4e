// The order of TopK: an element's rank is its value as an unsigned number that compares as the
// values do, then its index, so that no two are equal and of equal elements the first comes first.
// NaN counts as larger than every number.
__device__ __forceinline__ unsigned orderedBits(float a) {
  const unsigned bits = __float_as_uint(a == 0 ? 0.0f : a);
  return a != a ? 0xffffffffu : bits & 0x80000000u ? ~bits : bits | 0x80000000u;
}
__device__ __forceinline__ unsigned long long orderedBits(double a) {
  const unsigned long long sign = 1ull << 63;
  const unsigned long long bits = __double_as_longlong(a == 0 ? 0.0 : a);
  return a != a ? ~0ull : bits & sign ? ~bits : bits | sign;
}
template <class T>
__device__ __forceinline__ auto orderedBits(T a) {
  using U = std::conditional_t<sizeof(T) == 8, unsigned long long, unsigned>;
  using Wide = std::conditional_t<sizeof(T) == 8, long long, int>;
  if constexpr (std::is_signed_v<T>)
    return U(Wide(a)) ^ (U(1) << (sizeof(U) * 8 - 1));
  else
    return U(a);
}

template <class Key>
struct alignas(2 * sizeof(Key)) Rank {
  Key key;
  unsigned index;
};
template <class Key>
__device__ __forceinline__ bool isBefore(const Rank<Key>& a, const Rank<Key>& b) {
  return a.key < b.key || (a.key == b.key && a.index < b.index);
}
template <bool kLargest, class S>
__device__ __forceinline__ auto rankOf(S value, Index index) {
  const auto key = orderedBits(toCompute(value));
  using Key = std::conditional_t<sizeof(key) == 8, unsigned long long, unsigned>;
  return Rank<Key>{kLargest ? Key(~key) : Key(key), unsigned(index)};
}

// Bitonic sort by the whole block. All comparators point one way, so that whatever lies beyond
// `count` may be taken as last and is never touched.
template <class R>
__device__ void sortRanks(R* ranks, unsigned count) {
  for (unsigned size = 2; size / 2 < count; size *= 2) {
    for (unsigned stride = size / 2; stride > 0; stride /= 2) {
      for (unsigned i = threadIdx.x;; i += blockDim.x) {
        const unsigned low = ((i & ~(stride - 1)) << 1) | (i & (stride - 1));
        if (low >= count) break;
        const unsigned high = stride == size / 2 ? low ^ (size - 1) : low + stride;
        if (high >= count || !isBefore(ranks[high], ranks[low])) continue;
        const R lower = ranks[high];
        ranks[high] = ranks[low];
        ranks[low] = lower;
      }
      __syncthreads();
    }
  }
}

// Digit `place` of a rank in base 256, the most significant first.
template <class Key>
__device__ __forceinline__ unsigned digitOf(const Rank<Key>& rank, int place) {
  constexpr int kKeyDigits = sizeof(Key);
  return (place < kKeyDigits ? unsigned(rank.key >> (8 * (kKeyDigits - 1 - place)))
                             : rank.index >> (8 * (kKeyDigits + 3 - place))) &
         255;
}
// Compares the first `places` digits: negative, zero, positive.
template <class Key>
__device__ __forceinline__ int compareDigits(const Rank<Key>& a, const Rank<Key>& b, int places) {
  constexpr int kKeyDigits = sizeof(Key);
  const int keyShift = places < kKeyDigits ? 8 * (kKeyDigits - places) : 0;
  if (places == 0) return 0;
  const Key keyA = a.key >> keyShift, keyB = b.key >> keyShift;
  if (keyA != keyB) return keyA < keyB ? -1 : 1;
  if (places <= kKeyDigits) return 0;
  const int indexShift = 8 * (kKeyDigits + 4 - places);
  const unsigned indexA = a.index >> indexShift, indexB = b.index >> indexShift;
  return indexA < indexB ? -1 : indexA > indexB;
}

// Puts the first `taken` of ranks rankAt(0) .. rankAt(count - 1) into `chosen`, in any order: finds
// the digits of the last of them one by one, then takes what does not come after.
template <class R, class F>
__device__ void selectRanks(R* chosen, unsigned taken, unsigned count, F rankAt) {
  __shared__ unsigned counts[256];
  __shared__ unsigned remaining, filled;
  __shared__ int places;
  __shared__ R bound;
  constexpr int kDigits = sizeof(R::key) + 4;
  if (taken == 0) return;
  if (threadIdx.x == 0) {
    remaining = taken;
    filled = 0;
    places = 0;
    bound = R{};
  }
  for (int place = 0; place < kDigits; ++place) {
    for (int i = threadIdx.x; i < 256; i += blockDim.x) counts[i] = 0;
    __syncthreads();
    if (remaining == 0) break;
    for (unsigned start = 0; start < count; start += blockDim.x) {
      const unsigned i = start + threadIdx.x;
      unsigned digit = 256;  // of none
      if (i < count) {
        const R rank = rankAt(i);
        if (compareDigits(rank, bound, place) == 0) digit = digitOf(rank, place);
      }
      // Leading digits are mostly equal: one thread counts for all that have the same.
      const unsigned same = __match_any_sync(0xffffffffu, digit);
      if (digit < 256 && __ffs(same) - 1 == int(threadIdx.x % 32))
        atomicAdd(&counts[digit], unsigned(__popc(same)));
    }
    __syncthreads();
    if (threadIdx.x == 0) {
      unsigned digit = 0;
      while (counts[digit] < remaining) remaining -= counts[digit++];
      if (place < int(sizeof(R::key)))
        bound.key |= decltype(bound.key)(digit) << (8 * (sizeof(R::key) - 1 - place));
      else
        bound.index |= digit << (8 * (kDigits - 1 - place));
      places = place + 1;
      if (counts[digit] == remaining) remaining = 0;  // all with these digits belong to them
    }
    __syncthreads();
  }
  for (unsigned i = threadIdx.x; i < count; i += blockDim.x) {
    const R rank = rankAt(i);
    if (compareDigits(rank, bound, places) <= 0) chosen[atomicAdd(&filled, 1u)] = rank;
  }
  __syncthreads();
}
