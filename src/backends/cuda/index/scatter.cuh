// Which of the next updates go to a block's rows, found by all threads and then known to all, in the
// order of the updates: sums of floats depend on it.
template <int kThreads, int kEach>
struct ScatterHits {
  static constexpr int kWarps = kThreads / 32;
  unsigned short rows[kThreads * kEach], updates[kThreads * kEach];
  unsigned inWarp[kEach * kWarps];

  // own[i] is the row of update i * kThreads + threadIdx.x, or -1; returns how many have one.
  __device__ __forceinline__ unsigned collect(const int (&own)[kEach]) {
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    unsigned votes[kEach];
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      votes[i] = __ballot_sync(0xffffffffu, own[i] >= 0);
      if (lane == 0) inWarp[i * kWarps + warp] = __popc(votes[i]);
    }
    __syncthreads();  // nobody reads what was found before any more
    unsigned before = 0;
#pragma unroll
    for (int i = 0; i < kEach; ++i)
      for (int w = 0; w < kWarps; ++w) {
        if (w == warp && own[i] >= 0) {
          const unsigned place = before + __popc(votes[i] & ((1u << lane) - 1));
          rows[place] = own[i];
          updates[place] = i * kThreads + threadIdx.x;
        }
        before += inWarp[i * kWarps + w];
      }
    __syncthreads();
    return before;
  }
};
