// D = epilogue(A·B) on Hopper: one warp copies tiles with TMA into a ring of shared-memory stages,
// one or two warpgroups multiply them with wgmma.
//
// The generator puts the prelude and hopper.cuh in front of this text, and:
//   kTileM, kTileN         tile of D of one block; kTileM in steps of 64, kTileN of 8
//   kConsumers             warpgroups that multiply; they share the rows of a tile, or with
//   kPingPong              take whole tiles in turn, so that one multiplies while the other stores
//   kStages                depth of the ring
//   kSplitK                blocks of a cluster that share a tile along K and add up in rank order
//   kShareA, kShareB       blocks of a cluster with the same rows (columns) of D, which fetch A (B)
//                          together, each a part of it for all; one of them is 1
//   kElementBytes          of A and B; a stage is 128 bytes along K
//   kTransposedA           A lies as [k, m]; else [m, k]
//   kTransposedB           B lies as [n, k]; else [k, n]
//   kConstantB             no kernel writes B: it is fetched before the preceding kernel has ended
//   kWholeColumns          n is a multiple of 8, so that rows of D are written in vectors
//   kUnrollEpilogue        1, 2 or 4: vectors of D whose epilogues are in flight together
//   kBlocksPerSm           blocks that shall fit on a multiprocessor
//   Output                 element type of D
//   multiply(d, a, b, add) one wgmma instruction: d = a·b, or d += a·b
// and behind it the definitions of epilogue() and touchOperands().

struct GemmParams {
  Output* out;
  const void* extra[8];  // operands of the epilogue
  int m, n;
  int steps;           // along K, of 128 bytes
  int tilesM, tilesN;  // in units of what a cluster computes
  int tiles;           // tilesM * tilesN * batches
  int batchA, batchB;  // 1: a matrix per batch item; 0: one for all
};

// Eight columns of one row of D; `columns` of them exist.
struct Place {
  int batch, row, column, columns;
};

static __device__ __forceinline__ Vector<Output, 8> epilogue(const float (&sum)[8],
                                                             const Place& place,
                                                             const GemmParams& p);

// Loads something of each operand that epilogue() reads there, whatever it is.
static __device__ __forceinline__ u32 touchOperands(const Place& place, const GemmParams& p);

constexpr int kShare = kShareA * kShareB;
constexpr int kClusterSize = kSplitK * kShare;
constexpr int kRowsPerConsumer = kPingPong ? kTileM : kTileM / kConsumers;
constexpr int kBlocksM = kRowsPerConsumer / 64;  // wgmma instructions side by side along M
constexpr int kMultiplyThreads = kConsumers * 128;
// Large tiles of two warpgroups need more registers than an equal share: a whole warpgroup copies,
// which gives up most of its own.
constexpr bool kMovesRegisters = kConsumers == 2 && kBlocksPerSm == 1 && kBlocksM * kTileN > 128;
constexpr int kCopyRegisters = 40, kMultiplyRegisters = 232;
constexpr int kThreads = kMultiplyThreads + (kMovesRegisters ? 128 : 32);
constexpr int kTileABytes = kTileM * 128, kTileBBytes = kTileN * 128;
constexpr int kStageBytes = kTileABytes + kTileBBytes;
constexpr int kSliceA = kTileABytes / kShareA, kSliceB = kTileBBytes / kShareB;
// Sums on their way to the epilogue lie in f32 rows whose pitch is 8 mod 16 floats, so that neither
// the accumulators' layout nor reading by rows meets bank conflicts.
// Large tiles take small chunks of columns at a time, to leave room for stages.
constexpr int kChunk = kTileN % 64 == 0 && kTileM + kTileN < 320 ? 64
                       : kTileN % 32 == 0                        ? 32
                       : kTileN % 16 == 0                        ? 16
                                                                 : 8;
constexpr int kChunkPitch = 4 * (kChunk % 16 == 0 ? kChunk + 8 : kChunk);
constexpr int kTilePitch = 4 * (kTileN % 16 == 0 ? kTileN + 8 : kTileN);
constexpr int kRowsPerSplit = (kTileM + kSplitK - 1) / kSplitK;

static_assert(kTileM % (64 * (kPingPong ? 1 : kConsumers)) == 0 && kTileN % 8 == 0 &&
              kTileN <= 256);
static_assert(kBlocksPerSm <= 2 && (kBlocksPerSm == 1 || kBlocksM * kTileN <= 128));
static_assert(kShareA == 1 || kShareB == 1);
static_assert(kSliceA % kAtom == 0 && kSliceB % kAtom == 0);
static_assert(!kTransposedA || (kElementBytes == 2 && kSliceA % kTransposedBox == 0));
static_assert(kTransposedB || (kElementBytes == 2 && kSliceB % kTransposedBox == 0));
static_assert(!(kPingPong && kSplitK > 1));
static_assert(kWholeColumns || sizeof(Output) <= 4);

// ---- Shared memory ---------------------------------------------------------------------------

// Dynamic shared memory: stages at 1024-byte alignment, then the sums, then the barriers.
// The host computes the same sum (wgmma_config.h).
constexpr int kSumsBytes =
    kSplitK > 1 ? kSplitK* kRowsPerSplit* kTilePitch : kConsumers * 4 * 16 * kChunkPitch;

extern __shared__ char sharedMemory[];

__device__ __forceinline__ u32 stagesBase() {
  return ((u32)__cvta_generic_to_shared(sharedMemory) + 1023) & ~1023u;
}
__device__ __forceinline__ u32 sumsBase() { return stagesBase() + kStages * kStageBytes; }
__device__ __forceinline__ u32 fullBarrier(int stage) {
  return sumsBase() + kSumsBytes + stage * 8;
}
__device__ __forceinline__ u32 emptyBarrier(int stage) { return fullBarrier(kStages + stage); }
__device__ __forceinline__ u32 sumsBarrier() { return fullBarrier(2 * kStages); }

// A place in the ring of stages. A barrier has been passed `phase` (mod 2) times by those in front.
struct Ring {
  u32 stage = 0, phase = 0;
  __device__ __forceinline__ void advance() {
    if (++stage == kStages) {
      stage = 0;
      phase ^= 1;
    }
  }
  __device__ __forceinline__ void skip(u32 count) {
    const u32 position = stage + count;
    phase ^= position / kStages & 1;
    stage = position % kStages;
  }
};

// ---- Tiles -----------------------------------------------------------------------------------

struct Tile {
  int batch, row, column;
};

// Which part of its cluster's work is this block's.
struct Role {
  int split, member;
  __device__ __forceinline__ Role() {
    const int rank = kClusterSize == 1 ? 0 : clusterRank();
    split = rank % kSplitK;
    member = rank / kSplitK;
  }
  // Bits of the blocks that fetch together.
  __device__ __forceinline__ u16 mates() const {
    u16 bits = 0;
#pragma unroll
    for (int i = 0; i < kShare; ++i) bits |= 1 << (split + i * kSplitK);
    return bits;
  }
  __device__ __forceinline__ int firstStep(const GemmParams& p) const {
    return p.steps * split / kSplitK;
  }
  __device__ __forceinline__ int countSteps(const GemmParams& p) const {
    return p.steps * (split + 1) / kSplitK - firstStep(p);
  }
};

// Tiles go down bands of a few rows of tiles, so that those in flight together share A and B in L2.
__device__ __forceinline__ Tile tileAt(int index, const GemmParams& p, int member) {
  constexpr int kBand = kShareB > 1 ? 8 / kShareB : 8;
  const int perBatch = p.tilesM * p.tilesN;
  Tile tile;
  tile.batch = index / perBatch;
  index -= tile.batch * perBatch;
  const int band = index / (kBand * p.tilesN), first = band * kBand;
  const int height = min(kBand, p.tilesM - first);
  index -= band * kBand * p.tilesN;
  const int tileM = first + index % height, tileN = index / height;
  tile.row = (tileM * kShareB + (kShareB > 1 ? member : 0)) * kTileM;
  tile.column = (tileN * kShareA + (kShareA > 1 ? member : 0)) * kTileN;
  return tile;
}
__device__ __forceinline__ int firstTile() { return blockIdx.x / kClusterSize; }
__device__ __forceinline__ int tileStride() { return gridDim.x / kClusterSize; }

// ---- Producer: the warp that copies ----------------------------------------------------------

// One stage's part of an operand: `line` is the row of A or column of B where the tile begins.
template <bool kAlongK, int kLines, int kShared>
__device__ __forceinline__ void copyOperand(u32 to, const TensorMap& map, u32 barrier, int step,
                                            int line, int batch, const Role& role) {
  constexpr int kPart = kLines / kShared, kStepElements = 128 / kElementBytes;
  constexpr int kBoxLines = kAlongK ? kPart : 64;
  if (kShared > 1) {
    to += role.member * kPart * 128;
    line += role.member * kPart;
  }
  const int k = step * kStepElements;
#pragma unroll
  for (int i = 0; i < kPart; i += kBoxLines) {
    const int x = kAlongK ? k : line + i, y = kAlongK ? line + i : k;
    if constexpr (kShared > 1)
      copyBox(to + i * 128, map, barrier, x, y, batch, role.mates());
    else
      copyBox(to + i * 128, map, barrier, x, y, batch);
  }
}

struct Producer {
  const TensorMap &a, &b;
  const GemmParams& p;
  Role role;

  __device__ __forceinline__ void copyA(u32 stage, const Tile& tile, int step) const {
    copyOperand<!kTransposedA, kTileM, kShareA>(stagesBase() + stage * kStageBytes, a,
                                                fullBarrier(stage), step, tile.row,
                                                tile.batch * p.batchA, role);
  }
  __device__ __forceinline__ void copyB(u32 stage, const Tile& tile, int step) const {
    copyOperand<kTransposedB, kTileN, kShareB>(stagesBase() + stage * kStageBytes + kTileABytes, b,
                                               fullBarrier(stage), step, tile.column,
                                               tile.batch * p.batchB, role);
  }

  // The first stages' B, which needs not wait for the preceding kernel. Returns how many.
  __device__ __forceinline__ int copyEarly() const {
    if (!kConstantB || firstTile() >= p.tiles) return 0;
    const Tile tile = tileAt(firstTile(), p, role.member);
    const int early = min(role.countSteps(p), kStages);
    for (int i = 0; i < early; ++i) {
      expectBytes(fullBarrier(i), kStageBytes);
      copyB(i, tile, role.firstStep(p) + i);
    }
    return early;
  }

  __device__ __forceinline__ void run(int early) const {
    const int first = role.firstStep(p), steps = role.countSteps(p);
    waitForPrevious();
    Ring ring;
    for (int index = firstTile(); index < p.tiles; index += tileStride()) {
      const Tile tile = tileAt(index, p, role.member);
      for (int step = 0; step < steps; ++step, ring.advance()) {
        if (early > 0) {
          --early;
        } else {
          wait(emptyBarrier(ring.stage), ring.phase ^ 1);
          expectBytes(fullBarrier(ring.stage), kStageBytes);
          copyB(ring.stage, tile, first + step);
        }
        copyA(ring.stage, tile, first + step);
      }
    }
  }
};

// ---- Consumers: the warpgroups that multiply -------------------------------------------------

using Sums = float[kBlocksM][kTileN / 2];

__device__ __forceinline__ void multiplyStage(Sums& sums, u32 stage, int firstRow, bool add) {
  constexpr int kInstructions = 4;
  constexpr u64 kStepA = (kTransposedA ? 2 * kAtom : 32) >> 4;
  constexpr u64 kStepB = (kTransposedB ? 32 : 2 * kAtom) >> 4;
  const u32 base = stagesBase() + stage * kStageBytes;
  const u64 a = describe<!kTransposedA>(base + firstRow * 128);
  const u64 b = describe<kTransposedB>(base + kTileABytes);
#pragma unroll
  for (int k = 0; k < kInstructions; ++k)
#pragma unroll
    for (int i = 0; i < kBlocksM; ++i)
      multiply(sums[i], a + k * kStepA + i * (64 * 128 >> 4), b + k * kStepB, add || k > 0);
}

// Tells all blocks that copy into this stage that this warp is done with it.
__device__ __forceinline__ void release(u32 stage, const Role& role) {
  const int lane = threadIdx.x % 32;
  if (kShare == 1) {
    if (lane == 0) arrive(emptyBarrier(stage));
  } else if (lane < kShare) {
    arriveAtPeer(emptyBarrier(stage), role.split + lane * kSplitK);
  }
}

// With kPingPong the warpgroups multiply by turns. It is not for speed alone: a barrier tells odd
// from even passes only, so nobody may wait for one that is two passes ahead.
struct Turns {
  static __device__ __forceinline__ void begin() {
    if (kPingPong && threadIdx.x / 128 == 1) pass();
  }
  static __device__ __forceinline__ void take() {
    if (kPingPong) syncNamed(1 + threadIdx.x / 128, kMultiplyThreads);
  }
  static __device__ __forceinline__ void pass() {
    if (kPingPong) arriveNamed(2 - threadIdx.x / 128, kMultiplyThreads);
  }
};

__device__ __forceinline__ void multiplyTile(Sums& sums, Ring& ring, int steps, int firstRow,
                                             const Role& role) {
  u32 previous = 0;
  Turns::take();
  for (int step = 0; step < steps; ++step, ring.advance()) {
    wait(fullBarrier(ring.stage), ring.phase);
    fenceMultiply();
    multiplyStage(sums, ring.stage, firstRow, step > 0);
    commitMultiply();
    if (step > 0) {
      waitMultiply<1>();
      release(previous, role);
    }
    previous = ring.stage;
  }
  Turns::pass();
  waitMultiply<0>();
  release(previous, role);
}

// ---- Epilogue --------------------------------------------------------------------------------

// Eight columns of a row and tile. A place beyond the matrix stands for the last one in it, so that
// the epilogue can read its operands without asking.
__device__ __forceinline__ Place placeOf(const Tile& tile, int row, int column,
                                         const GemmParams& p) {
  Place place = {tile.batch, min(tile.row + row, p.m - 1),
                 min(tile.column + column, (p.n - 1) & ~7), 8};
  if (!kWholeColumns) place.columns = min(8, p.n - place.column);
  return place;
}

// Loads operands of the epilogue while the first stages are on their way, so that they are in the
// first cache when they are needed. Only what fits there with the stages beside it.
__device__ __forceinline__ u32 touchTile(const Tile& tile, const GemmParams& p, const Role& role) {
  constexpr int kRows = kSplitK > 1 ? kRowsPerSplit : kTileM, kGroups = kTileN / 8;
  constexpr int kThreadsHere = kPingPong ? 128 : kMultiplyThreads;
  constexpr int kMost = kMovesRegisters || kBlocksPerSm > 1 ? 1 : 4;
  const int thread = threadIdx.x % kThreadsHere, firstRow = kSplitK > 1 ? role.split * kRows : 0;
  u32 touched[kMost] = {};
#pragma unroll
  for (int i = 0; i < kMost; ++i) {
    const int item = thread + i * kThreadsHere;
    if (item < kRows * kGroups)
      touched[i] = touchOperands(
          placeOf(tile, firstRow + item / kGroups, item % kGroups * 8, p), p);
  }
  u32 all = 0;
#pragma unroll
  for (int i = 0; i < kMost; ++i) all ^= touched[i];
  return all;
}

// Eight columns of a row on their way out; only the store asks whether they exist.
struct Finished {
  Vector<Output, 8> values;
  Output* to;
  int columns;
  bool isInside = false;

  __device__ __forceinline__ void compute(const float (&sum)[8], const Tile& tile, int row,
                                          int column, const GemmParams& p) {
    isInside = tile.row + row < p.m && tile.column + column < p.n;
    const Place place = placeOf(tile, row, column, p);
    values = epilogue(sum, place, p);
    columns = place.columns;
    to = p.out + ((long long)place.batch * p.m + place.row) * p.n + place.column;
  }
  __device__ __forceinline__ void store() const {
    if (!isInside) return;
    if constexpr (kWholeColumns) {
      storeVector(to, values);
    } else {
#pragma unroll
      for (int i = 0; i < 8; ++i)
        if (i < columns) to[i] = values.v[i];
    }
  }
};

// Eight floats of a row; half of the lanes read the second four first, which spreads the banks.
__device__ __forceinline__ void loadEight(u32 address, float (&x)[8]) {
  const bool swap = threadIdx.x & 4;
  float low[4], high[4];
  loadShared(address + (swap ? 16 : 0), low);
  loadShared(address + (swap ? 0 : 16), high);
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    x[i] = swap ? high[i] : low[i];
    x[4 + i] = swap ? low[i] : high[i];
  }
}

// Rows that begin anywhere: the warp's finished chunk lies where its sums were, and goes out element
// by element, neighbours side by side.
__device__ __forceinline__ void storeElements(u32 rows, const Tile& tile, int firstRow,
                                              int firstColumn, const GemmParams& p) {
  const int left = p.n - tile.column - firstColumn;
  Output* const out = p.out + (long long)tile.batch * p.m * p.n + tile.column + firstColumn;
#pragma unroll 8
  for (int item = threadIdx.x % 32; item < 16 * kChunk; item += 32) {
    const int row = tile.row + firstRow + item / kChunk, column = item % kChunk;
    if (row >= p.m || column >= left) continue;
    const u32 from = rows + item / kChunk * kChunkPitch + column / 8 * 32;
    out[(long long)row * p.n + column] = inShared<Output>(from + column % 8 * sizeof(Output));
  }
}

// A warp holds 16 rows of each 64: it passes them through its own shared memory chunk by chunk, so
// that a thread gets eight columns of a row. Element 4j+e of `sums` is row lane/4 (+8 for e >= 2),
// column 8j + 2(lane%4) + e%2.
__device__ __forceinline__ void storeTile(const Sums& sums, const Tile& tile, int firstRow,
                                          const GemmParams& p) {
  constexpr int kPitch = kChunkPitch, kGroups = kChunk / 8, kTurns = (16 * kGroups + 31) / 32;
  constexpr int kTogether = kUnrollEpilogue < kTurns ? kUnrollEpilogue : kTurns;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const u32 rows = sumsBase() + warp * 16 * kPitch;
  const u32 mine = rows + lane / 4 * kPitch + lane % 4 * 8;
#pragma unroll
  for (int i = 0; i < kBlocksM; ++i) {
#pragma unroll
    for (int chunk = 0; chunk < kTileN / kChunk; ++chunk) {
      __syncwarp();
#pragma unroll
      for (int j = 0; j < kGroups; ++j) {
        const float* sum = &sums[i][(chunk * kGroups + j) * 4];
        storeShared(mine + j * 32, sum[0], sum[1]);
        storeShared(mine + j * 32 + 8 * kPitch, sum[2], sum[3]);
      }
      __syncwarp();
#pragma unroll 1
      for (int turn = 0; turn < kTurns; turn += kTogether) {
        Finished finished[kTogether];
#pragma unroll
        for (int t = 0; t < kTogether; ++t) {
          const int item = lane + (turn + t) * 32, row = item / kGroups, group = item % kGroups;
          if (row >= 16) continue;
          float sum[8];
          loadEight(rows + row * kPitch + group * 32, sum);
          finished[t].compute(sum, tile, firstRow + i * 64 + warp % 4 * 16 + row,
                              chunk * kChunk + group * 8, p);
        }
#pragma unroll
        for (int t = 0; t < kTogether; ++t) {
          if constexpr (kWholeColumns) {
            finished[t].store();
          } else {
            const int item = lane + (turn + t) * 32;
            if (item < 16 * kGroups)
              inShared<Vector<Output, 8>>(rows + item / kGroups * kPitch + item % kGroups * 32) =
                  finished[t].values;
          }
        }
      }
      if constexpr (!kWholeColumns) {
        __syncwarp();
        storeElements(rows, tile, firstRow + i * 64 + warp % 4 * 16, chunk * kChunk, p);
      }
    }
  }
}

// Every block of the cluster owns some rows of the tile and gets all sums for them, its own too.
__device__ __forceinline__ int countOwnRows(const Tile& tile, const GemmParams& p,
                                            const Role& role) {
  const int first = role.split * kRowsPerSplit;
  return max(min(min(kRowsPerSplit, kTileM - first), p.m - tile.row - first), 0);
}
__device__ __forceinline__ void sendSums(const Sums& sums, const Tile& tile, int firstRow,
                                         const GemmParams& p, const Role& role) {
  constexpr int kPitch = kTilePitch;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
#pragma unroll
  for (int i = 0; i < kBlocksM * 2; ++i) {
    const int row = firstRow + i / 2 * 64 + warp % 4 * 16 + i % 2 * 8 + lane / 4;
    if (tile.row + row >= p.m) continue;
    const int owner = row / kRowsPerSplit;
    const int slot = role.split * kRowsPerSplit + row - owner * kRowsPerSplit;
    const int rank = owner + role.member * kSplitK;
    const u32 to = inPeer(sumsBase() + slot * kPitch + lane % 4 * 8, rank);
    const u32 barrier = inPeer(sumsBarrier(), rank);
#pragma unroll
    for (int j = 0; j < kTileN / 8; ++j)
      storePeer(to + j * 32, sums[i / 2][j * 4 + i % 2 * 2], sums[i / 2][j * 4 + i % 2 * 2 + 1],
                barrier);
  }
}

__device__ __forceinline__ void storeSplitTile(const Tile& tile, const GemmParams& p,
                                               const Role& role) {
  constexpr int kPitch = kTilePitch, kGroups = kTileN / 8;
  const int firstRow = role.split * kRowsPerSplit, rows = countOwnRows(tile, p, role);
  wait(sumsBarrier(), 0);
#pragma unroll 1
  for (int item = threadIdx.x; item < rows * kGroups; item += kMultiplyThreads) {
    const int row = item / kGroups, group = item % kGroups;
    float sum[8] = {};
#pragma unroll
    for (int split = 0; split < kSplitK; ++split) {
      float part[8];
      loadEight(sumsBase() + (split * kRowsPerSplit + row) * kPitch + group * 32, part);
#pragma unroll
      for (int i = 0; i < 8; ++i) sum[i] += part[i];
    }
    Finished finished;
    finished.compute(sum, tile, firstRow + row, group * 8, p);
    finished.store();
  }
}

__device__ __forceinline__ void consume(const GemmParams& p, const Role& role) {
  const int consumer = threadIdx.x / 128;
  const int firstRow = kPingPong ? 0 : consumer * kRowsPerConsumer;
  const int steps = role.countSteps(p);
  Ring ring;
  if (kPingPong && consumer > 0) ring.skip(steps * consumer);
  Turns::begin();
  waitForPrevious();
  const int turns = kPingPong ? kConsumers : 1, turn = kPingPong ? consumer : 0;
  for (int index = firstTile() + turn * tileStride(); index < p.tiles;
       index += turns * tileStride()) {
    const Tile tile = tileAt(index, p, role.member);
    const u32 touched = touchTile(tile, p, role);
    Sums sums;
    multiplyTile(sums, ring, steps, firstRow, role);
    if (p.steps < 0) p.out[touched] = Output();  // never: the loads must have a use
    if (kPingPong) ring.skip(steps * (kConsumers - 1));
    if constexpr (kSplitK == 1) {
      storeTile(sums, tile, firstRow, p);
    } else {
      if (kShare == 1) waitCluster();
      sendSums(sums, tile, firstRow, p, role);
      storeSplitTile(tile, p, role);
    }
  }
}

// ---- Kernel ----------------------------------------------------------------------------------

__device__ __forceinline__ void initBarriers(const GemmParams& p, const Role& role) {
  constexpr int kMultiplyWarps = kPingPong ? 4 : kConsumers * 4;
  for (int i = 0; i < kStages; ++i) {
    initBarrier(fullBarrier(i), 1);
    initBarrier(emptyBarrier(i), kMultiplyWarps * kShare);
  }
  if (kSplitK > 1) {
    initBarrier(sumsBarrier(), 1);
    expectBytes(sumsBarrier(),
                kSplitK * kTileN * 4 * countOwnRows(tileAt(firstTile(), p, role.member), p, role));
  }
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

// With kSplitK > 1 a cluster computes one tile: the grid has a cluster for each.
extern "C" __global__ void __launch_bounds__(kThreads, kBlocksPerSm)
    gemm(const __grid_constant__ TensorMap a, const __grid_constant__ TensorMap b,
         const __grid_constant__ GemmParams p) {
  const Role role;
  const Producer producer{a, b, p, role};
  const int warp = __shfl_sync(~0u, threadIdx.x / 32, 0);
  int early = 0;
  if (threadIdx.x == kMultiplyThreads) {
    initBarriers(p, role);
    if (kShare == 1) early = producer.copyEarly();
    asm volatile("prefetch.tensormap [%0];" ::"l"(&a) : "memory");
  }
  __syncthreads();
  // Nothing may reach a block that has not begun: copies for several blocks wait for this at once,
  // sums of a split tile just before they are sent.
  if (kClusterSize > 1) arriveCluster();
  if (kShare > 1) waitCluster();
  letNextStart();
  if (warp < kConsumers * 4) {
    if constexpr (kMovesRegisters)
      asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(kMultiplyRegisters));
    consume(p, role);
  } else {
    if constexpr (kMovesRegisters)
      asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(kCopyRegisters));
    if (threadIdx.x == kMultiplyThreads) producer.run(kShare == 1 ? early : producer.copyEarly());
    __syncwarp();
    if (kSplitK > 1 && kShare == 1) waitCluster();
  }
  // Nor a block that has ended: sums are waited for there, but not that a stage is free.
  if (kShare > 1) {
    arriveCluster();
    waitCluster();
  }
}
