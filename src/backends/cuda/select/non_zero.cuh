// Positions of what is not zero, in order. Of floats the sign does not count: there are two zeros.
template <class S>
__device__ __forceinline__ bool isSet(S a) {
  return a != S(0);
}
__device__ __forceinline__ bool isSet(f16 a) { return (a.bits & 0x7fff) != 0; }
__device__ __forceinline__ bool isSet(bf16 a) { return (a.bits & 0x7fff) != 0; }
__device__ __forceinline__ bool isSet(f8e4m3 a) { return (a.bits & 0x7f) != 0; }
__device__ __forceinline__ bool isSet(f8e5m2 a) { return (a.bits & 0x7f) != 0; }

// Every block counts a part, tells the others, and writes when all parts before its own are
// counted: write(place, i) for the element that is set at i. The workspace begins as zeros: a
// counter, so that blocks take parts in the order they start, then one word per block: one more
// than what it counted.
template <int kThreads, class S, class F>
__device__ void findSet(const S* x, long long total, void* workspace, long long* count, F write) {
  auto* flags = static_cast<unsigned long long*>(workspace);
  __shared__ unsigned long long scratch[kThreads / 32];
  __shared__ unsigned inWarp[kThreads / 32];
  __shared__ unsigned long long ticket;
  if (threadIdx.x == 0)
    ticket = atomicAdd(flags++, 1ull);
  else
    ++flags;
  __syncthreads();
  const unsigned part = unsigned(ticket);
  const long long size = (total + gridDim.x - 1) / gridDim.x, begin = part * size,
                  end = begin + size < total ? begin + size : total;
  unsigned long long mine = 0, earlier = 0;
  for (long long i = begin + threadIdx.x; i < end; i += kThreads) mine += isSet(x[i]);
  mine = blockReduce<kThreads>(mine, Sum{}, scratch);
  if (threadIdx.x == 0) atomicExch(flags + part, mine + 1);
  for (unsigned other = threadIdx.x; other < part; other += kThreads) {
    unsigned long long told = 0;
    while (told == 0) told = atomicAdd(flags + other, 0ull);
    earlier += told - 1;
  }
  earlier = blockReduce<kThreads>(earlier, Sum{}, scratch);
  if (part == gridDim.x - 1 && threadIdx.x == 0) *count = earlier + mine;

  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  long long place = earlier;
  for (long long first = begin; first < end; first += kThreads) {
    const long long i = first + threadIdx.x;
    const bool set = i < end && isSet(x[i]);
    const unsigned votes = __ballot_sync(0xffffffffu, set);
    if (lane == 0) inWarp[warp] = __popc(votes);
    __syncthreads();
    unsigned before = 0, all = 0;
    for (int w = 0; w < kThreads / 32; ++w) {
      before += w < warp ? inWarp[w] : 0;
      all += inWarp[w];
    }
    if (set) write(place + before + __popc(votes & ((1u << lane) - 1)), i);
    place += all;
    __syncthreads();
  }
}

// As coordinates in a tensor of these sizes.
template <int kThreads, int kRank, class S>
__device__ __forceinline__ void writePositions(const S* x, long long total,
                                               const Index (&sizes)[kRank], void* workspace,
                                               long long* positions, long long* count) {
  findSet<kThreads>(x, total, workspace, count, [&](long long place, Index i) {
    const Coordinates<kRank> at = coordinatesOf(i, sizes);
#pragma unroll
    for (int d = 0; d < kRank; ++d) positions[place * kRank + d] = at[d];
  });
}
