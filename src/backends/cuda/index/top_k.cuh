// A row, along the middle dimension of [outer, size, inner], of which a block puts the first k of
// kLargest's order into the results. A k beyond the row, which ends a run on the CPU, leaves the
// results there untouched.
template <bool kLargest, class T, class I>
struct TopKRow {
  using R = Rank<std::conditional_t<sizeof(T) == 8, unsigned long long, unsigned>>;
  const T* from;
  T* values;
  I* indices;
  Index size, k, inner;

  __device__ __forceinline__ R rankAt(Index i) const {
    return rankOf<kLargest>(from[i * inner], i);
  }

  template <int kMostElements>
  __device__ __forceinline__ void sort() const {
    __shared__ R ranks[kMostElements];
    sortAll(ranks);
  }
  __device__ __forceinline__ void sortIn(void* workspace) const {
    sortAll(static_cast<R*>(workspace) + static_cast<long long>(blockIdx.x) * size);
  }
  // Finds the k first, then sorts them.
  template <int kMostResults>
  __device__ __forceinline__ void select() const {
    __shared__ R ranks[kMostResults];
    const Index taken = k < size ? k : size;
    selectRanks(ranks, taken, size, [&](Index i) { return rankAt(i); });
    sortRanks(ranks, taken);
    write(ranks);
  }

 private:
  __device__ __forceinline__ void sortAll(R* ranks) const {
    for (Index i = threadIdx.x; i < size; i += blockDim.x) ranks[i] = rankAt(i);
    __syncthreads();
    sortRanks(ranks, size);
    write(ranks);
  }
  __device__ __forceinline__ void write(const R* ranks) const {
    for (Index i = threadIdx.x; i < k && i < size; i += blockDim.x) {
      const Index index = ranks[i].index;
      values[i * inner] = from[index * inner];
      indices[i * inner] = index;
    }
  }
};

// The block's.
template <bool kLargest, class T, class I>
__device__ __forceinline__ TopKRow<kLargest, T, I> topKRow(const T* x, T* values, I* indices,
                                                           Index size, Index k, Index inner) {
  const Index outer = Index(blockIdx.x) / inner, column = Index(blockIdx.x) % inner;
  const Index to = outer * k * inner + column;
  return {x + outer * size * inner + column, values + to, indices + to, size, k, inner};
}
