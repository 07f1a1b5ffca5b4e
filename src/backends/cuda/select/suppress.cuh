// Non-maximum suppression of one batch and class by a block, and the results of all in a row. Needs
// device/ranks.cuh. Operations that a compiler might fuse are spelled out: results are those of the
// CPU.
template <bool kCentred>
__device__ __forceinline__ float4 cornersOf(const float* box) {
  if (kCentred)
    return {box[0] - box[2] / 2, box[1] - box[3] / 2, box[0] + box[2] / 2, box[1] + box[3] / 2};
  return {fminf(box[1], box[3]), fminf(box[0], box[2]), fmaxf(box[1], box[3]),
          fmaxf(box[0], box[2])};
}
__device__ __forceinline__ float areaOf(float4 box) {
  return __fmul_rn(__fsub_rn(box.z, box.x), __fsub_rn(box.w, box.y));
}
// Intersection over union is above the threshold; boxes without area overlap nothing.
__device__ __forceinline__ bool overlap(float4 a, float4 b, float threshold) {
  const float width = __fsub_rn(fminf(a.z, b.z), fmaxf(a.x, b.x));
  const float height = __fsub_rn(fminf(a.w, b.w), fmaxf(a.y, b.y));
  if (!(width > 0 && height > 0)) return false;
  const float areaA = areaOf(a), areaB = areaOf(b), common = __fmul_rn(width, height);
  const float all = __fsub_rn(__fadd_rn(areaA, areaB), common);
  return common > 0 && areaA > 0 && areaB > 0 && all > 0 && __fdiv_rn(common, all) > threshold;
}

// What the block works with in memory of its own: `ranks` for every box, `kept` and `results` for
// as many as may stay.
struct SuppressRoom {
  Rank<unsigned>* ranks;
  float4* kept;
  int* results;
};

// Candidates in order of their scores, NaN last; of equal scores the first comes first.
template <int kThreads, bool kHasLowest>
__device__ Rank<unsigned>* sortCandidates(const float* scores, unsigned boxes, float lowest,
                                          Rank<unsigned>* ranks, unsigned& count) {
  constexpr unsigned kShared = 2048;
  __shared__ Rank<unsigned> sorted[kShared];
  __shared__ unsigned found;
  if (threadIdx.x == 0) found = 0;
  __syncthreads();
  for (unsigned i = threadIdx.x; i < boxes; i += kThreads) {
    const float score = scores[i];
    if (kHasLowest && !(score > lowest)) continue;
    Rank<unsigned> rank = rankOf<true>(score, i);
    if (score != score) rank.key = 0xffffffffu;
    ranks[atomicAdd(&found, 1u)] = rank;
  }
  __syncthreads();
  count = found;
  if (count <= kShared) {
    for (unsigned i = threadIdx.x; i < count; i += kThreads) sorted[i] = ranks[i];
    __syncthreads();
    ranks = sorted;
  }
  sortRanks(ranks, count);
  return ranks;
}

// kThreads candidates at a time, each by a thread: those that overlap what stays already are out,
// then one warp goes through the rest in order. Returns how many stay.
template <int kThreads, bool kCentred, bool kHasLowest>
__device__ unsigned suppress(const float* boxes, const float* scores, unsigned boxCount,
                             unsigned limit, float threshold, float lowest, SuppressRoom room) {
  constexpr int kWords = kThreads / 32;
  __shared__ float4 corners[kThreads];
  __shared__ unsigned overlaps[kThreads][kWords];  // which earlier candidates
  __shared__ unsigned alive[kWords], staying[kWords];
  unsigned count = 0, kept = 0;
  const Rank<unsigned>* order =
      sortCandidates<kThreads, kHasLowest>(scores, boxCount, lowest, room.ranks, count);
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  for (unsigned first = 0; first < count && kept < limit; first += kThreads) {
    const unsigned candidate = first + threadIdx.x;
    const unsigned position = candidate < count ? order[candidate].index : 0;
    const float4 box = cornersOf<kCentred>(boxes + 4ll * position);
    bool isFree = candidate < count;
    for (unsigned i = 0; isFree && i < kept; ++i) isFree = !overlap(room.kept[i], box, threshold);
    corners[threadIdx.x] = box;
    const unsigned votes = __ballot_sync(0xffffffffu, isFree);
    if (lane == 0) alive[warp] = votes;
    __syncthreads();
    for (int word = 0; word < kWords; ++word) {
      unsigned bits = 0;
      for (int bit = 0; isFree && bit < 32 && word * 32 + bit < int(threadIdx.x); ++bit)
        bits |= unsigned(overlap(corners[word * 32 + bit], box, threshold)) << bit;
      overlaps[threadIdx.x][word] = bits;
    }
    __syncthreads();
    if (warp == 0) {
      unsigned stays = 0, left = limit - kept;
      for (int i = 0; i < kThreads; ++i) {
        const unsigned hits = lane < kWords ? overlaps[i][lane] & stays : 0;
        const bool isOut = __ballot_sync(0xffffffffu, hits != 0) != 0;
        if (isOut || left == 0 || !(alive[i / 32] >> (i % 32) & 1)) continue;
        --left;
        if (lane == i / 32) stays |= 1u << (i % 32);
      }
      if (lane < kWords) staying[lane] = stays;
    }
    __syncthreads();
    unsigned place = kept + __popc(staying[warp] & ((1u << lane) - 1));
    for (int word = 0; word < kWords; ++word) {
      place += word < warp ? __popc(staying[word]) : 0;
      kept += __popc(staying[word]);
    }
    if (staying[warp] >> lane & 1) {
      room.kept[place] = box;
      room.results[place] = int(position);
    }
    __syncthreads();
  }
  return kept;
}

// True in the block that ends last, which then sees what all others wrote. `done` begins as zero.
__device__ bool isLastBlock(unsigned* done) {
  __shared__ bool isLast;
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) isLast = atomicAdd(done, 1u) == gridDim.x - 1;
  __syncthreads();
  __threadfence();
  return isLast;
}

// Rows (batch, class, box) one after the other, from results[row][limit] of which counts[row] are.
template <int kThreads>
__device__ void joinResults(const int* results, const unsigned* counts, unsigned rows,
                            unsigned classes, unsigned limit, long long* to, long long* count) {
  __shared__ unsigned ends[kThreads];
  long long total = 0;
  for (unsigned first = 0; first < rows; first += kThreads) {
    const unsigned own = first + threadIdx.x;
    unsigned end = own < rows ? __ldcg(counts + own) : 0;
    ends[threadIdx.x] = end;
    __syncthreads();
    for (int distance = 1; distance < kThreads; distance *= 2) {
      end += int(threadIdx.x) >= distance ? ends[threadIdx.x - distance] : 0;
      __syncthreads();
      ends[threadIdx.x] = end;
      __syncthreads();
    }
    for (unsigned i = threadIdx.x / 32; i < kThreads && first + i < rows; i += kThreads / 32) {
      const unsigned row = first + i, begin = i == 0 ? 0 : ends[i - 1];
      for (unsigned k = threadIdx.x % 32; k < ends[i] - begin; k += 32) {
        long long* result = to + (total + begin + k) * 3;
        result[0] = row / classes;
        result[1] = row % classes;
        result[2] = __ldcg(results + static_cast<long long>(row) * limit + k);
      }
    }
    total += ends[kThreads - 1];
    __syncthreads();
  }
  if (threadIdx.x == 0) *count = total;
}

// A block per row, and the last one to end puts the results together. The workspace holds a
// counter, then corners, ranks, results and counts of every row.
template <int kThreads, bool kCentred, bool kHasLowest>
__device__ __forceinline__ void suppressRows(const float* boxes, const float* scores,
                                             float threshold, float lowest, long long rows,
                                             Index classes, long long boxCount, long long limit,
                                             void* workspace, long long* to, long long* count) {
  unsigned* done = static_cast<unsigned*>(workspace);
  float4* kept = static_cast<float4*>(workspace) + 1;
  auto* ranks = reinterpret_cast<Rank<unsigned>*>(kept + rows * limit);
  int* results = reinterpret_cast<int*>(ranks + rows * boxCount);
  unsigned* counts = reinterpret_cast<unsigned*>(results + rows * limit);
  const long long row = blockIdx.x;
  if (row < rows) {
    const unsigned stay = suppress<kThreads, kCentred, kHasLowest>(
        boxes + row / classes * boxCount * 4, scores + row * boxCount, unsigned(boxCount),
        unsigned(limit), threshold, lowest,
        {ranks + row * boxCount, kept + row * limit, results + row * limit});
    if (threadIdx.x == 0) counts[row] = stay;
  }
  if (isLastBlock(done))
    joinResults<kThreads>(results, counts, unsigned(rows), unsigned(classes), unsigned(limit), to,
                          count);
}
