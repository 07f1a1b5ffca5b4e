// The Hopper matrix product itself: who copies, who multiplies. Follows store.cuh.

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

// Where a row's window begins, maybe outside of its image.
struct Pixel {
  int n, y, x;
};
__device__ __forceinline__ Pixel pixelAt(int row, const GemmParams& p) {
  const u32 breadth = p.outBreadth, height = p.outHeight;
  const u32 rest = (u32)row / breadth, n = rest / height;
  const int y = rest - n * height, x = row - rest * breadth;
  return {(int)n, y * kStrideY - kPadY, x * kStrideX - kPadX};
}

// One stage's part of A that is windows of images from `first` on: a box for each of its blocks of
// channels. Blocks behind those of the last tap are zeros, like all channels that there are not.
__device__ __forceinline__ void copyWindows(u32 to, const TensorMap& map, u32 barrier, int step,
                                            const Pixel& first, const Role& role) {
  constexpr int kBoxes = 128 / kBlockBytes, kPart = kTileM / kShareA;
  constexpr int kUnits = kKernelY * kKernelX * kChannelBlocks;
  constexpr int kBlockElements = kBlockBytes / kElementBytes;
  if (kShareA > 1) to += role.member * kPart * kBlockBytes;
#pragma unroll
  for (int i = 0; i < kBoxes; ++i) {
    const u32 unit = step * kBoxes + i;
    const bool isThere = kUnits % kBoxes == 0 || unit < kUnits;
    const u32 tap = isThere ? unit / kChannelBlocks : 0;
    const int channel = (isThere ? unit % kChannelBlocks : kChannelBlocks) * kBlockElements;
    const u16 right = tap % kKernelX * kDilationX, down = tap / kKernelX * kDilationY;
    if constexpr (kShareA > 1)
      copyPixels(to, map, barrier, channel, first.x, first.y, first.n, right, down, role.mates());
    else
      copyPixels(to, map, barrier, channel, first.x, first.y, first.n, right, down);
    to += kTileM * kBlockBytes;
  }
}

struct Producer {
  const TensorMap &a, &b;
  const GemmParams& p;
  Role role;

  // The tile's first pixel that this block copies.
  __device__ __forceinline__ Pixel firstPixel(const Tile& tile) const {
    return pixelAt(tile.row + (kShareA > 1 ? role.member * (kTileM / kShareA) : 0), p);
  }
  __device__ __forceinline__ void copyA(u32 stage, const Tile& tile, const Pixel& first,
                                        int step) const {
    if constexpr (kImages)
      copyWindows(stagesBase() + stage * kStageBytes, a, fullBarrier(stage), step, first, role);
    else
      copyOperand<!kTransposedA, kTileM, kShareA>(stagesBase() + stage * kStageBytes, a,
                                                  fullBarrier(stage), step, tile.row,
                                                  tile.batch * p.batchA, role);
  }
  __device__ __forceinline__ void copyB(u32 stage, const Tile& tile, int step) const {
    copyOperand<kTransposedB, kTileN, kShareB>(stagesBase() + stage * kStageBytes + kTileABytes, b,
                                               fullBarrier(stage), step, tile.column,
                                               tile.batch * p.batchB, role);
  }

  // The residual's tile, when results have left its place.
  template <class Maps>
  __device__ __forceinline__ void copyResidual(const Maps& maps, const ResidualRing& ring,
                                               const Tile& tile) const {
    if constexpr (kResidualTiles > 0) {
      const u32 barrier = residualFull(ring.stage);
      wait(residualEmpty(ring.stage), ring.phase ^ 1);
      expectBytes(barrier, kResidualBytes);
#pragma unroll
      for (int i = 0; i < kResidualBytes / kLineColumnBytes; ++i)
        copyBox(residualTile(ring.stage) + i * kLineColumnBytes, maps.residual, barrier,
                tile.column * kOutputBytes + i * kLine, tile.row, tile.batch);
    }
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
    const int begin = role.firstStep(p), steps = role.countSteps(p);
    waitForPrevious();
    Ring ring;
    ResidualRing residual;
    for (int index = firstTile(); index < p.tiles; index += tileStride(), residual.advance()) {
      const Tile tile = tileAt(index, p, role.member);
      copyResidual(p.maps, residual, tile);
      const Pixel first = kImages ? firstPixel(tile) : Pixel{};
      for (int step = 0; step < steps; ++step, ring.advance()) {
        if (early > 0) {
          --early;
        } else {
          wait(emptyBarrier(ring.stage), ring.phase ^ 1);
          expectBytes(fullBarrier(ring.stage), kStageBytes);
          copyB(ring.stage, tile, begin + step);
        }
        copyA(ring.stage, tile, first, begin + step);
      }
    }
  }
};

// ---- Consumers: the warpgroups that multiply -------------------------------------------------

__device__ __forceinline__ void multiplyStage(Sums& sums, u32 stage, int firstRow, bool add) {
  constexpr int kInstructions = 4;
  constexpr u64 kStepB = (kTransposedB ? 32 : 2 * kAtom) >> 4;
  const u32 base = stagesBase() + stage * kStageBytes;
  // A's boxes of a stage lie one behind the other.
  constexpr int kPerBox = kBlockBytes / 32, kBoxBytes = kTileM * kBlockBytes;
  const auto stepOfA = [](int k) -> u64 {
    return (kTransposedA ? k * 2 * kAtom : k / kPerBox * kBoxBytes + k % kPerBox * 32) >> 4;
  };
  const u64 a = describe<!kTransposedA, kBlockBytes>(base + firstRow * kBlockBytes);
  const u64 b = describe<kTransposedB>(base + kTileABytes);
#pragma unroll
  for (int k = 0; k < kInstructions; ++k)
#pragma unroll
    for (int i = 0; i < kBlocksM; ++i)
      multiply(sums[i], a + stepOfA(k) + i * (64 * kBlockBytes >> 4), b + k * kStepB, add || k > 0);
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

__device__ __forceinline__ void consume(const GemmParams& p, const Role& role) {
  const int consumer = __shfl_sync(~0u, threadIdx.x / 128, 0);  // known to be one for all lanes
  const int firstRow = kPingPong ? 0 : consumer * kRowsPerConsumer;
  const int steps = role.countSteps(p);
  Ring ring;
  ResidualTiles residual;
  if (kPingPong && consumer > 0) {
    ring.skip(steps * consumer);
    residual.ring.skip(consumer);
  }
  Turns::begin();
  waitForPrevious();
  const int turns = kPingPong ? kConsumers : 1, turn = kPingPong ? consumer : 0;
  for (int index = firstTile() + turn * tileStride(); index < p.tiles;
       index += turns * tileStride()) {
    const Tile tile = tileAt(index, p, role.member);
    const u32 touched = touchTile(tile, p, role);
    if constexpr (kNormalises) findRowMoments(tile, firstRow, p);
    Sums sums;
    multiplyTile(sums, ring, steps, firstRow, role);
    if (p.steps < 0) p.out[touched] = Output();  // never: the loads must have a use
    if (kPingPong) ring.skip(steps * (kConsumers - 1));
    if constexpr (kSplitK == 1) {
      storeTile(sums, tile, firstRow, residual, p);
    } else {
      if (kShare == 1) waitCluster();
      sendSums(sums, tile, firstRow, p, role);
      storeSplitTile(tile, p, role);
    }
  }
  if (kResidualTiles > 0) waitStores();
}

// ---- Kernel ----------------------------------------------------------------------------------

__device__ __forceinline__ void initRing() {
  constexpr int kMultiplyWarps = kPingPong ? 4 : kConsumers * 4;
  for (int i = 0; i < kStages; ++i) {
    initBarrier(fullBarrier(i), 1);
    initBarrier(emptyBarrier(i), kMultiplyWarps * kShare);
  }
  for (int i = 0; i < kResidualTiles; ++i) {
    initBarrier(residualFull(i), 1);
    initBarrier(residualEmpty(i), kMultiplyWarps);
  }
  publishBarriers();
}
__device__ __forceinline__ void initSums(const GemmParams& p, const Role& role) {
  const Tile tile = tileAt(firstTile(), p, role.member);
  initBarrier(sumsBarrier(), 1);
  expectBytes(sumsBarrier(), kSplitK * kTileN * 4 * countOwnRows(tile, p, role));
  publishBarriers();
}

// With kSplitK > 1 a cluster computes one tile: the grid has a cluster for each.
extern "C" __global__ void __launch_bounds__(kThreads, kBlocksPerSm)
    CAMSHAFT_GEMM(const __grid_constant__ TensorMap a, const __grid_constant__ TensorMap b,
                  const __grid_constant__ GemmParams p) {
  const Role role;
  const Producer producer{a, b, p, role};
  const int warp = __shfl_sync(~0u, threadIdx.x / 32, 0);
  int early = 0;
  if (threadIdx.x == kMultiplyThreads) {
    initRing();
    if (kShare == 1) early = producer.copyEarly();
    prefetchMap(a);
  } else if (kSplitK > 1 && threadIdx.x == 0) {
    initSums(p, role);
  }
  __syncthreads();
  // Nothing may reach a block that has not begun: copies for several blocks wait for this at once,
  // sums of a split tile just before they are sent.
  if (kClusterSize > 1) arriveCluster();
  if (kShare > 1) waitCluster();
  letNextStart();
  if (warp < kConsumers * 4) {
    if constexpr (kMovesRegisters) takeRegisters<kMultiplyRegisters>();
    consume(p, role);
  } else {
    if constexpr (kMovesRegisters) leaveRegisters<kCopyRegisters>();
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
