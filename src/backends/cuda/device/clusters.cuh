// Blocks of a cluster (sm_90 and later), which read one another's shared memory. The emulator runs
// blocks one after another, so there the first does all.

__device__ __forceinline__ void syncBlocks() {
#if !defined(CAMSHAFT_EMULATOR) && __CUDA_ARCH__ >= 900
  asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::
                   : "memory");
#endif
}

// What lies in another block's shared memory where `own` is in this one's, by words.
template <class T>
__device__ __forceinline__ T fromBlock(const T& own, int rank) {
  T result = own;
#if !defined(CAMSHAFT_EMULATOR) && __CUDA_ARCH__ >= 900
  static_assert(sizeof(T) % 4 == 0, "values are moved by words");
  unsigned remote;
  asm("mapa.shared::cluster.u32 %0, %1, %2;"
      : "=r"(remote)
      : "r"(static_cast<unsigned>(__cvta_generic_to_shared(&own))), "r"(rank));
  union Words {
    T value;
    unsigned words[sizeof(T) / 4];
    __device__ Words(const T& value) : value(value) {}
  };
  Words moved(own);
#pragma unroll
  for (int i = 0; i < int(sizeof(T) / 4); ++i)
    asm volatile("ld.shared::cluster.u32 %0, [%1];"
                 : "=r"(moved.words[i])
                 : "r"(remote + 4 * i)
                 : "memory");
  result = moved.value;
#endif
  return result;
}

// A team (teams.cuh) of the lanes of kBlocks neighbouring blocks: only the first lane of all gets
// the result.
template <class Block, int kBlocks>
struct BlocksTogether {
#ifdef CAMSHAFT_EMULATOR
  static constexpr int kSharing = 1;
#else
  static constexpr int kSharing = kBlocks;
#endif
  static constexpr int kLanes = Block::kLanes * kSharing, kRows = Block::kRows;
  __device__ static Index block() { return blockIdx.x / kBlocks; }
  __device__ static int rank() { return blockIdx.x % kBlocks; }
  __device__ static int row() { return Block::row(); }
  __device__ static int lane() { return rank() * Block::kLanes + Block::lane(); }

  template <class T, class F>
  __device__ __forceinline__ static T reduce(T value, F combine) {
    value = Block::reduce(value, combine);
    if constexpr (kSharing > 1) {
      __shared__ T parts[kRows];
      if (Block::lane() == 0) parts[row()] = value;
      syncBlocks();
      if (lane() == 0)
#pragma unroll
        for (int rank = 1; rank < kSharing; ++rank)
          value = combine(value, fromBlock(parts[row()], rank));
      syncBlocks();  // before one ends that another reads
    }
    return value;
  }
};
