// Tiles of matrix products on tensor cores by the instructions of a warp:
// D[row, column] = sum over k of A[row, k] B[column, k], of f16 or bf16, added up in f32 (sm_80 and
// later), or of bytes, added up in i32. Follows device/mma.cuh.
namespace mma {

using namespace attention;

__device__ __forceinline__ void storeChunk(SharedAddress to, const void* chunk) {
  storeShared(to, loadVector<4>(static_cast<const unsigned*>(chunk)));
}

// Adds kWidth sums of the same place in another block of the cluster.
template <int kWidth, class Sum>
__device__ __forceinline__ void addFromBlock(Sum* sums, const Sum* place, int rank) {
#if !defined(CAMSHAFT_EMULATOR) && __CUDA_ARCH__ >= 900
  unsigned remote;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(remote) : "r"(sharedAddress(place)), "r"(rank));
  constexpr int kWords = kWidth % 4 == 0 ? 4 : 1;
#pragma unroll
  for (int i = 0; i < kWidth; i += kWords) {
    unsigned words[4];
    if constexpr (kWords == 4)
      asm volatile("ld.shared::cluster.v4.b32 {%0, %1, %2, %3}, [%4];"
                   : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
                   : "r"(remote + 4 * i)
                   : "memory");
    else
      asm volatile("ld.shared::cluster.b32 %0, [%1];"
                   : "=r"(words[0])
                   : "r"(remote + 4 * i)
                   : "memory");
#pragma unroll
    for (int word = 0; word < kWords; ++word) {
      if constexpr (std::is_same_v<Sum, float>)
        sums[i + word] += __uint_as_float(words[word]);
      else
        sums[i + word] += static_cast<Sum>(words[word]);
    }
  }
#endif
}

// Adds kWidth sums of a place, of all blocks that share it.
template <class T, int kWidth, class Sum>
__device__ __forceinline__ void addSums(Sum* sums, const Sum* place) {
  if constexpr (T::kSplits > 1) {
#pragma unroll
    for (int block = 0; block < T::kSplits; ++block) addFromBlock<kWidth>(sums, place, block);
  } else {
    const auto own = loadVector<kWidth>(place);
#pragma unroll
    for (int v = 0; v < kWidth; ++v) sums[v] += own.v[v];
  }
}

// All blocks of the cluster have read what they wanted of one another. Orders no memory: what was
// read has arrived where it was needed, and waiting for results on their way to memory would take
// long.
__device__ __forceinline__ void leaveCluster() {
#if !defined(CAMSHAFT_EMULATOR) && __CUDA_ARCH__ >= 900
  asm volatile("barrier.cluster.arrive.relaxed;\nbarrier.cluster.wait;" ::: "memory");
#endif
}

// The k axis is shared by the blocks of a cluster.
template <int kBlocks>
struct SplitDepth {
  static constexpr int kCluster = kBlocks;  // blocks that are launched for a tile
#ifdef CAMSHAFT_EMULATOR
  static constexpr int kSplits = 1;  // blocks run one after another: the first does all
#else
  static constexpr int kSplits = kBlocks;
#endif
  // The steps of one of the blocks.
  __device__ __forceinline__ static int firstStep(int steps, int rank) {
    return static_cast<int>(static_cast<long long>(steps) * rank / kSplits);
  }
};

// kRows x kColumns results of a block of kWarpsM x kWarpsN warps. Shared memory holds kStages steps
// along k, of kRowBytes: rows of A, then of B.
template <class A_, class B_, int kRows_, int kColumns_, int kRowBytes_, int kWarpsM_, int kWarpsN_,
          int kStages_, int kSplits_>
struct Tiling : SplitDepth<kSplits_> {
  using A = A_;
  using B = B_;
  using Sum = std::conditional_t<sizeof(A) == 1, int, float>;
  static_assert(sizeof(A) == sizeof(B), "rows of both are as long");
  static constexpr int kRows = kRows_, kColumns = kColumns_, kRowBytes = kRowBytes_;
  static constexpr int kDepth = kRowBytes / sizeof(A);
  static constexpr int kWarpsM = kWarpsM_, kWarpsN = kWarpsN_, kStages = kStages_;
  static constexpr int kSlices = 1;  // of k, whose sums shared memory has side by side
  static constexpr int kThreads = 32 * kWarpsM * kWarpsN;
  static constexpr int kWarpRows = kRows / kWarpsM, kWarpColumns = kColumns / kWarpsN;
  static constexpr int kChunk = 16 / sizeof(A),
                       kChunks = kRowBytes / 16;           // of a row, 16 bytes each
  static constexpr int kRowsPerPass = kThreads / kChunks;  // that the threads copy at a time
  static constexpr int kBytesA = kRows * kRowBytes, kStageBytes = kBytesA + kColumns * kRowBytes;
  static constexpr int kPitch = kColumns + 8;  // of sums in shared memory

  // Eight rows of a chunk, and the chunks of a row, lie in different banks.
  __device__ __forceinline__ static int place(int row, int chunk) {
    const int exchanged = kRowBytes == 128 ? chunk ^ (row & 7) : chunk ^ (row >> 1 & 3);
    return row * kRowBytes + exchanged * 16;
  }
  // Where a column of a row of sums lies: threads that read eight neighbours each, four at a time,
  // read from different banks.
  __device__ __forceinline__ static int sumColumn(int column) { return column ^ (column >> 3 & 4); }
  // What a thread copies: chunk ownChunk() of rows ownRow(0), ownRow(1), ...
  __device__ __forceinline__ static int ownChunk() { return threadIdx.x % kChunks; }
  __device__ __forceinline__ static int ownRow(int i) {
    return threadIdx.x / kChunks + i * kRowsPerPass;
  }
};

// What a block has: a tile of an item, and steps along k where several blocks share them. Blocks
// count through those first, then through tiles along N, along M, and items.
template <class T>
struct TilePlace {
  int rank, first, steps;   // among the blocks that share k; its steps
  Index item, row, column;  // of the tile's first element

  __device__ __forceinline__ TilePlace(Index tilesN, Index tilesM, int allSteps)
      : rank(blockIdx.x % T::kCluster),
        first(T::firstStep(allSteps, rank)),
        steps(T::firstStep(allSteps, rank + 1) - first) {
    const Index block = Index(blockIdx.x) / T::kCluster, others = block / tilesN;
    item = others / tilesM;
    row = others % tilesM * T::kRows;
    column = block % tilesN * T::kColumns;
  }
};

// Copies kCount rows of a matrix with k along its rows, chunk by chunk; zeros where it ends.
template <class T, class E, int kCount, bool kIsPadded>
struct MatrixSource {
  const E* from;
  Index pitch, depth;  // the depth that is left; whole steps when padded
  int rows;            // that are there

  __device__ __forceinline__ MatrixSource(const E* matrix, Index pitch, Index depth, Index firstRow,
                                          Index endRow, int firstStep)
      : from(matrix + firstRow * pitch + firstStep * T::kDepth + T::ownChunk() * T::kChunk),
        pitch(pitch),
        depth(depth - firstStep * T::kDepth - T::ownChunk() * T::kChunk),
        rows(static_cast<int>(endRow - firstRow < kCount ? endRow - firstRow : kCount)) {}

  __device__ __forceinline__ void copy(SharedAddress to) {
#pragma unroll
    for (int i = 0; i < kCount / T::kRowsPerPass; ++i) {
      const int row = T::ownRow(i);
      const bool isThere = row < rows && (kIsPadded || depth > 0);
      copyAsync(to + T::place(row, T::ownChunk()), isThere ? from + row * pitch : from, isThere);
    }
    from += T::kDepth;
    depth -= T::kDepth;
  }
};

// Copies B, which needs nothing of the kernels before, for the stages that are filled first.
template <class T, class B>
__device__ __forceinline__ void beginStages(SharedAddress memory, B& b, int steps) {
#pragma unroll
  for (int i = 0; i < T::kStages - 1; ++i)
    if (i < steps) b.copy(memory + i * T::kStageBytes + T::kBytesA);
}

// After beginStages(): calls addStage(offset) for every step once both operands are in shared
// memory at that offset. Shared memory is free again when it returns.
template <class T, class A, class B, class F>
__device__ __forceinline__ void forEachStage(SharedAddress memory, A& a, B& b, int steps,
                                             F addStage) {
#pragma unroll
  for (int i = 0; i < T::kStages - 1; ++i) {
    if (i < steps) a.copy(memory + i * T::kStageBytes);
    commitCopies();
  }
  int reads = 0, writes = T::kStages - 1;
  for (int step = 0; step < steps; ++step) {
    waitForCopies<T::kStages - 2>();
    __syncthreads();
    if (step + T::kStages - 1 < steps) {
      a.copy(memory + writes * T::kStageBytes);
      b.copy(memory + writes * T::kStageBytes + T::kBytesA);
    }
    commitCopies();
    addStage(reads * T::kStageBytes);
    reads = reads + 1 == T::kStages ? 0 : reads + 1;
    writes = writes + 1 == T::kStages ? 0 : writes + 1;
  }
  waitForCopies<0>();
  __syncthreads();
}

// Gives the sums in shared memory, [kSlices][kRows][kPitch], that are inside [rows, columns] to
// store(row, column, values), kWidth neighbours at a time, always added up in the same order.
// Blocks that share k finish some rows each.
template <class T, int kWidth, class Store>
__device__ __forceinline__ void storeTile(char* memory, const TilePlace<T>& tile, Index allRows,
                                          Index allColumns, const Store& store) {
  const int rows = int(min(Index(T::kRows), allRows - tile.row));
  const int columns = int(min(Index(T::kColumns), allColumns - tile.column));
  using Sum = typename T::Sum;
  const Sum* const shown = reinterpret_cast<const Sum*>(memory);
  if constexpr (T::kSplits > 1)
    syncCluster();
  else
    __syncthreads();
  // A thread goes down the rows of its columns, so that what belongs to these is read once.
  constexpr int kParts = T::kColumns / kWidth, kShare = T::kRows / T::kSplits;
  constexpr int kAcross = kParts < T::kThreads ? kParts : T::kThreads;
  constexpr int kDown = T::kThreads / kAcross, kRead = kWidth < 4 ? kWidth : 4;
  static_assert(kAcross * kDown == T::kThreads && kParts % kAcross == 0);
#pragma unroll
  for (int part = 0; part < kParts; part += kAcross) {
    const int column = (part + threadIdx.x % kAcross) * kWidth;
    const int end = column < columns ? min(rows, (tile.rank + 1) * kShare) : 0;
    for (int row = tile.rank * kShare + threadIdx.x / kAcross; row < end; row += kDown) {
      Sum values[kWidth];
#pragma unroll
      for (int v = 0; v < kWidth; ++v) values[v] = 0;
#pragma unroll
      for (int slice = 0; slice < T::kSlices; ++slice) {
        const Sum* const sums = shown + (slice * T::kRows + row) * T::kPitch;
#pragma unroll
        for (int v = 0; v < kWidth; v += kRead)
          addSums<T, kRead>(values + v, sums + T::sumColumn(column + v));
      }
      store(tile.row + row, tile.column + column, values);
    }
  }
  if constexpr (T::kSplits > 1) leaveCluster();
}

// What products get besides, by column: term.addTo(values, column).
struct NoTerm {
  template <int kWidth, class Sum>
  __device__ __forceinline__ void addTo(Sum (&)[kWidth], Index) const {}
};
template <class B>
struct BiasTerm {
  const B* bias;
  template <int kWidth, class Sum>
  __device__ __forceinline__ void addTo(Sum (&values)[kWidth], Index column) const {
    const auto own = loadVector<kWidth>(bias + column);
#pragma unroll
    for (int v = 0; v < kWidth; ++v) values[v] += toCompute(own.v[v]);
  }
};
// Takes the zero point of A out, given the sums of B's rows.
struct ZeroTerm {
  int zero;
  const int* sums;
  template <int kWidth>
  __device__ __forceinline__ void addTo(int (&values)[kWidth], Index column) const {
    const auto own = loadVector<kWidth>(sums + column);
#pragma unroll
    for (int v = 0; v < kWidth; ++v) values[v] -= zero * own.v[v];
  }
};

template <class T>
struct Product {
  using Sum = typename T::Sum;
  Sum sums[T::kWarpRows / 16][T::kWarpColumns / 8][4];

  __device__ __forceinline__ Product() {
#pragma unroll
    for (int i = 0; i < T::kWarpRows / 16; ++i)
#pragma unroll
      for (int j = 0; j < T::kWarpColumns / 8; ++j)
#pragma unroll
        for (int k = 0; k < 4; ++k) sums[i][j][k] = 0;
  }
  __device__ __forceinline__ static int firstRow() {
    return threadIdx.x / 32 / T::kWarpsN * T::kWarpRows;
  }
  __device__ __forceinline__ static int firstColumn() {
    return threadIdx.x / 32 % T::kWarpsN * T::kWarpColumns;
  }

  __device__ __forceinline__ void addStage(SharedAddress stage) {
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int k = 0; k < T::kRowBytes / 32; ++k) {
      unsigned a[T::kWarpRows / 16][4], b[T::kWarpColumns / 16][4];
#pragma unroll
      for (int i = 0; i < T::kWarpRows / 16; ++i)
        loadMatrices(a[i], stage + T::place(firstRow() + i * 16 + lane % 16, k * 2 + lane / 16));
#pragma unroll
      for (int j = 0; j < T::kWarpColumns / 16; ++j)
        loadMatrices(b[j], stage + T::kBytesA +
                               T::place(firstColumn() + j * 16 + lane / 16 * 8 + lane % 8,
                                        k * 2 + lane / 8 % 2));
#pragma unroll
      for (int i = 0; i < T::kWarpRows / 16; ++i)
#pragma unroll
        for (int j = 0; j < T::kWarpColumns / 8; ++j)
          multiply(typename T::A{}, typename T::B{}, sums[i][j], a[i], b[j / 2][j % 2 * 2],
                   b[j / 2][j % 2 * 2 + 1]);
    }
  }

  // What needs nothing of the kernels before.
  template <class B>
  __device__ __forceinline__ static void begin(SharedAddress memory, B& b, int steps) {
    beginStages<T>(memory, b, steps);
  }
  // After begin(). Shared memory is free again when it returns.
  template <class A, class B>
  __device__ __forceinline__ void add(SharedAddress memory, A& a, B& b, int steps) {
    forEachStage<T>(memory, a, b, steps, [&](int offset) { addStage(memory + offset); });
  }

  __device__ __forceinline__ void show(Sum* memory) const {
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int i = 0; i < T::kWarpRows / 16; ++i)
#pragma unroll
      for (int j = 0; j < T::kWarpColumns / 8; ++j)
#pragma unroll
        for (int half = 0; half < 2; ++half)
          storeVector<2>(memory + (firstRow() + i * 16 + half * 8 + lane / 4) * T::kPitch +
                             T::sumColumn(firstColumn() + j * 8 + lane % 4 * 2),
                         Vector<Sum, 2>{{sums[i][j][half * 2], sums[i][j][half * 2 + 1]}});
  }

  // The columns' term is added; columns are counted from `before` on, for it and the store.
  template <int kWidth, class Term, class Store>
  __device__ __forceinline__ void finish(char* memory, const TilePlace<T>& tile, Index rows,
                                         Index columns, Index before, const Term& term,
                                         const Store& store) const {
    show(reinterpret_cast<Sum*>(memory));
    storeTile<T, kWidth>(memory, tile, rows, columns,
                         [&](Index row, Index column, Sum(&values)[kWidth]) {
                           term.addTo(values, before + column);
                           store(row, before + column, values);
                         });
  }
};

}  // namespace mma
