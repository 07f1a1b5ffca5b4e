// Running sums or products along a row, from the first element or (kReverse) from the last, with
// or without (kExclusive) the element itself. Elements are of type T, and added up as A. load(i,
// values) reads one, store(i, results) writes one.
template <class A>
struct Adding {
  __device__ static A identity() { return A(0); }
  __device__ A operator()(A a, A b) const { return op::sum(a, b); }
};
template <class A>
struct Multiplying {
  __device__ static A identity() { return A(1); }
  __device__ A operator()(A a, A b) const { return op::product(a, b); }
};

template <class T, class A, class Load>
__device__ __forceinline__ A loadOne(Index i, const Load& load) {
  T values[1];
  load(i, values);
  return static_cast<A>(values[0]);
}
template <class T, class A, class Store>
__device__ __forceinline__ void storeOne(Index i, A value, const Store& store) {
  const T results[1] = {static_cast<T>(value)};
  store(i, results);
}

// By one thread.
template <class Op, bool kReverse, bool kExclusive, class T, class A, class Load, class Store>
__device__ __forceinline__ void scanAlone(Index count, Load load, Store store) {
  A total = Op::identity();
  for (Index i = 0; i < count; ++i) {
    const Index at = kReverse ? count - 1 - i : i;
    const A next = Op{}(total, loadOne<T, A>(at, load));
    storeOne<T>(at, kExclusive ? total : next, store);
    total = next;
  }
}

// By the block: kThreads elements at a time, scanned within warps, across warps, and carried on.
template <class Op, bool kReverse, bool kExclusive, int kThreads, class T, class A, class Load,
          class Store>
__device__ __forceinline__ void scanTogether(Index count, Load load, Store store) {
  __shared__ A warpTotals[kThreads / 32];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  A carried = Op::identity();
  for (Index first = 0; first < count; first += kThreads) {
    const Index i = first + threadIdx.x, at = kReverse ? count - 1 - i : i;
    A value = i < count ? loadOne<T, A>(at, load) : Op::identity();
#pragma unroll
    for (int distance = 1; distance < 32; distance *= 2) {
      const A before = __shfl_up_sync(0xffffffffu, value, distance);
      if (lane >= distance) value = Op{}(before, value);
    }
    A exclusive = __shfl_up_sync(0xffffffffu, value, 1);
    if (lane == 0) exclusive = Op::identity();
    if (lane == 31) warpTotals[warp] = value;
    __syncthreads();
    A before = carried;
#pragma unroll
    for (int i = 0; i < kThreads / 32; ++i) {
      if (i < warp) before = Op{}(before, warpTotals[i]);
      carried = Op{}(carried, warpTotals[i]);
    }
    if (i < count) storeOne<T>(at, Op{}(before, kExclusive ? exclusive : value), store);
    __syncthreads();
  }
}
