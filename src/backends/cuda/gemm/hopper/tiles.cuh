// D = epilogue(A·B) on Hopper: one warp copies tiles with TMA into a ring of shared-memory stages,
// one or two warpgroups multiply them with wgmma.
//
// The generator puts the prelude, device/barriers.cuh and device/hopper.cuh in front of this text,
// and:
//   kTileM, kTileN         tile of D of one block; kTileM in steps of 64, kTileN of 8
//   kConsumers             warpgroups that multiply; they share the rows of a tile, or with
//   kPingPong              take whole tiles in turn, so that one multiplies while the other stores
//   kStages                depth of the ring
//   kSplitK                blocks of a cluster that share a tile along K and add up in rank order
//   kShareA, kShareB       blocks of a cluster with the same rows (columns) of D, which fetch A (B)
//                          together, each a part of it for all; one of them is 1
//   kElementBytes          of A and B, 1, 2 or 4; a stage is 128 bytes along K
//   kTransposedA           A lies as [k, m]; else [m, k]
//   kTransposedB           B lies as [n, k]; else [k, n]
//   kConstantB             no kernel writes B: it is fetched before the preceding kernel has ended
//   kWholeColumns          n is a multiple of 8, of 16 where elements of D are bytes, so that rows
//                          of D are written in vectors
//   kWholeTiles            n is a multiple of what a cluster has of it
//   kColumnEpilogue        operands of the epilogue, if any, are the same for all rows
//   kQuads                 columns of B are packed in the order of columnOf(): D is of bytes
//   kResidualTiles         tiles of an operand of the epilogue that lies like D, of elements of as
//                          many bytes: they are copied ahead, and D leaves from their place. 0:
//                          no such operand, or it is read like others
//   kUnrollEpilogue        1, 2 or 4: vectors of D whose epilogues are in flight together
//   kBlocksPerSm           blocks that shall fit on a multiprocessor
//   kImages                rows of A are windows of images [n, y, x, c], counted through places of
//                          the result; K counts through (tap, block of channels, channel)
//   kKernelY, kStrideY, kDilationY, kPadY, and of X: those windows; a tap on each pixel where A is
//                          a matrix
//   kBlockBytes            of a block of channels, 32, 64 or 128; 128 where A is a matrix
//   kChannelBlocks         blocks of a tap
//   kNormalises            rows of A, of kRowLength elements, are normalised: the epilogue finds
//                          mean and factor of a row in Place (moments.cuh). Not with kSplitK
//   kCentres               their means are subtracted; else they are 0
//   epsilon()              added to the variance
//   kKeepsMoments          those of D's rows are stored beside it. kTileN and n are multiples of
//                          kMomentColumns
//   CAMSHAFT_GEMM          what the kernel is called
//   Output                 element type of D
//   Accumulator            float, or int for products of integers
//   multiply(d, a, b, add) one wgmma instruction: d = a·b, or d += a·b
// and behind it moments.cuh, store.cuh, gemm.cuh and the definitions of epilogue() and
// touchOperands().

// Where tiles of the residual come from and go to.
struct TileMaps {
  TensorMap residual, out;
};
struct NoTileMaps {};

struct GemmParams {
  Output* out;
  const void* extra[8];  // operands of the epilogue
  int m, n;
  int steps;                  // along K, of 128 bytes
  int tilesM, tilesN;         // in units of what a cluster computes
  int tiles;                  // tilesM * tilesN * batches
  int batchA, batchB;         // 1: a matrix per batch item; 0: one for all
  int outHeight, outBreadth;  // places of the result of an image
  float numbers[16];          // of a quantised model, for the epilogue
  float *means, *factors;     // of rows of A, where they are kept; or null
  float2* moments;            // of rows of D, with kKeepsMoments
  std::conditional_t<(kResidualTiles > 0), TileMaps, NoTileMaps> maps;
};
static_assert(kResidualTiles == 0 || sizeof(GemmParams) == 512);  // as the host has it

// Some columns of one row of D, from column + ahead on, element start + ahead; `columns` of them
// exist. What is ahead is known while compiling, so that addresses need no instruction for it.
struct Place {
  int batch, row, column, columns, ahead = 0;
  long long start = 0;
  u32 residual = 0;            // its elements there, four bytes, where tiles of it are fetched
  float mean = 0, factor = 0;  // of the row, with kNormalises
};
template <class T, int kWidth>
__device__ __forceinline__ Elements<T, kWidth> residualOf(const Place& place) {
  using Result = Elements<T, kWidth>;
  if constexpr (sizeof(Result) == 4)
    return reinterpret_cast<const Result&>(place.residual);
  else
    return {};  // nobody asks
}

// Eight columns of a row, or kHeld.
template <int kWidth>
static __device__ __forceinline__ Elements<Output, kWidth> epilogue(
    const Accumulator (&sum)[kWidth], const Place& place, const GemmParams& p);

// Loads something of each operand that epilogue() reads there, whatever it is.
static __device__ __forceinline__ u32 touchOperands(const Place& place, const GemmParams& p);

// Neighbours in a row that have a mean, and a sum of squares of what they are away from it, of
// their own: moments of rows, f32 [row, block of columns, 2].
constexpr int kMomentColumns = 32;

constexpr int kShare = kShareA * kShareB;
constexpr int kClusterSize = kSplitK * kShare;
constexpr int kRowsPerConsumer = kPingPong ? kTileM : kTileM / kConsumers;
constexpr int kBlocksM = kRowsPerConsumer / 64;  // wgmma instructions side by side along M
using Sums = Accumulator[kBlocksM][kTileN / 2];  // of a thread
constexpr int kMultiplyThreads = kConsumers * 128;
// Large tiles of two warpgroups need more registers than an equal share: a whole warpgroup copies,
// which gives up most of its own.
constexpr bool kMovesRegisters = kConsumers == 2 && kBlocksPerSm == 1 && kBlocksM * kTileN > 128;
constexpr int kCopyRegisters = 40, kMultiplyRegisters = 232;
constexpr int kThreads = kMultiplyThreads + (kMovesRegisters ? 128 : 32);
constexpr int kTileABytes = kTileM * 128, kTileBBytes = kTileN * 128;
constexpr int kStageBytes = kTileABytes + kTileBBytes;
constexpr int kSliceA = kTileABytes / kShareA, kSliceB = kTileBBytes / kShareB;
// Sums on their way to the epilogue lie in rows whose pitch is 8 mod 16 of them, so that neither
// the accumulators' layout nor reading by rows meets bank conflicts.
// Large tiles take small chunks of columns at a time, to leave room for stages.
constexpr int kChunk = kTileN % 64 == 0 && kTileM + kTileN < 320 ? 64
                       : kTileN % 32 == 0                        ? 32
                       : kTileN % 16 == 0                        ? 16
                                                                 : 8;
constexpr int kChunkPitch = 4 * (kChunk % 16 == 0 ? kChunk + 8 : kChunk);
constexpr int kTilePitch = 4 * (kTileN % 16 == 0 ? kTileN + 8 : kTileN);
// What finishes its sums in registers keeps elements of D there instead, those of one or two bytes
// in rows whose pitch is 4 mod 8 words, as stmatrix wants them, and as pairs of bytes do.
constexpr int kOutputBytes = sizeof(Output);
constexpr bool kFinishesInRegisters =
    (kColumnEpilogue || kQuads || kResidualTiles > 0) && kSplitK == 1 &&
    (kOutputBytes == 1 ? kTileN % 16 == 0 : kOutputBytes == 2 || kOutputBytes == 4);
constexpr int kHeld = kQuads ? 4 : 2;  // neighbours that a thread has the sums of
using Held = Elements<Output, kHeld>;
// A tile of the residual lies in columns of as many bytes as the swizzle of its copies has.
constexpr int kLine = kTileN * kOutputBytes % 128 == 0 ? 128 : 64;
constexpr int kLineColumnBytes = kTileM * kLine, kResidualBytes = kTileM * kTileN * kOutputBytes;
constexpr int kRowChunk = kResidualTiles > 0                       ? kLine / kOutputBytes
                          : kOutputBytes == 1 && kTileN % 128 == 0 ? 128
                          : kOutputBytes <= 2 && kTileN % 64 == 0  ? 64
                                                                   : kChunk;
constexpr int kRowBytes = kRowChunk * kOutputBytes;
constexpr int kRowPitch = kOutputBytes > 2 ? kChunkPitch : kRowBytes + (kRowBytes % 32 ? 0 : 16);
constexpr int kRowsPerSplit = (kTileM + kSplitK - 1) / kSplitK;

static_assert(kTileM % (64 * (kPingPong ? 1 : kConsumers)) == 0 && kTileN % 8 == 0 &&
              kTileN <= 256);
static_assert(kBlocksPerSm <= (kConsumers == 1 ? 3 : 2) &&
              (kBlocksPerSm == 1 || kBlocksM * kTileN <= 128));
static_assert(kShareA == 1 || kShareB == 1);
static_assert(kSliceA % kAtom == 0 && kSliceB % kAtom == 0);
static_assert(!kImages || !kTransposedA);
static_assert(kImages || kBlockBytes == 128);
static_assert(!kTransposedA || (kElementBytes == 2 && kSliceA % kTransposedBox == 0));
static_assert(kTransposedB || (kElementBytes == 2 && kSliceB % kTransposedBox == 0));
static_assert(!(kPingPong && kSplitK > 1));
static_assert(!kNormalises || (kSplitK == 1 && kElementBytes == 2 && !kTransposedA && !kImages &&
                               kRowLength % kMomentColumns == 0));
static_assert(!kKeepsMoments || (kTileN % kMomentColumns == 0 && kOutputBytes == 2));
static_assert(kWholeColumns || kOutputBytes <= 4);
static_assert(!kQuads || (kOutputBytes == 1 && kWholeColumns && kTileN % 16 == 0));
static_assert(!kFinishesInRegisters || kResidualTiles > 0 || kRowPitch <= kChunkPitch);
static_assert(kResidualTiles == 0 ||
              (kFinishesInRegisters && kWholeColumns && sizeof(Held) == 4 &&
               kTileN * kOutputBytes % kLine == 0 && kResidualTiles >= (kPingPong ? 3 : 2)));

// ---- Shared memory ---------------------------------------------------------------------------

// Dynamic shared memory: stages at 1024-byte alignment, tiles of the residual or the sums, means
// and factors of rows, then the barriers. The host computes the same sum (config.h).
constexpr int kSumsBytes = kResidualTiles > 0 ? kResidualTiles * kResidualBytes
                           : kSplitK > 1      ? kSplitK * kRowsPerSplit * kTilePitch
                                              : kConsumers * 4 * 16 * kChunkPitch;
constexpr int kMomentsBytes = kNormalises ? kTileM * 8 * (kPingPong ? 2 : 1) : 0;

extern __shared__ char sharedMemory[];

__device__ __forceinline__ u32 stagesBase() {
  return ((u32)__cvta_generic_to_shared(sharedMemory) + 1023) & ~1023u;
}
__device__ __forceinline__ u32 sumsBase() { return stagesBase() + kStages * kStageBytes; }
__device__ __forceinline__ u32 momentsBase() { return sumsBase() + kSumsBytes; }
__device__ __forceinline__ u32 fullBarrier(int stage) {
  return momentsBase() + kMomentsBytes + stage * 8;
}
__device__ __forceinline__ u32 emptyBarrier(int stage) { return fullBarrier(kStages + stage); }
__device__ __forceinline__ u32 sumsBarrier() { return fullBarrier(2 * kStages); }
__device__ __forceinline__ u32 residualTile(int i) { return sumsBase() + i * kResidualBytes; }
__device__ __forceinline__ u32 residualFull(int i) { return fullBarrier(2 * kStages + 1 + i); }
__device__ __forceinline__ u32 residualEmpty(int i) { return residualFull(kResidualTiles + i); }

// A place in a ring of stages or tiles. A barrier has been passed `phase` (mod 2) times by those in
// front.
template <int kSize>
struct RingOf {
  u32 stage = 0, phase = 0;
  __device__ __forceinline__ void advance() {
    if (++stage == kSize) {
      stage = 0;
      phase ^= 1;
    }
  }
  __device__ __forceinline__ void skip(u32 count) {
    const u32 position = stage + count;
    phase ^= position / kSize & 1;
    stage = position % kSize;
  }
};
using Ring = RingOf<kStages>;
using ResidualRing = RingOf<(kResidualTiles > 0 ? kResidualTiles : 1)>;

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
// The first copy waits for this: divisions only where they are needed.
__device__ __forceinline__ Tile tileAt(u32 index, const GemmParams& p, int member) {
  constexpr u32 kBand = kShareB > 1 ? 8 / kShareB : 8;
  const u32 perBand = kBand * p.tilesN, perBatch = p.tilesM * p.tilesN;
  Tile tile = {};
  if (index >= perBatch) {
    tile.batch = index / perBatch;
    index %= perBatch;
  }
  u32 first = 0;
  if (index >= perBand) {
    first = index / perBand * kBand;
    index %= perBand;
  }
  const u32 height = min(kBand, p.tilesM - first);
  const int tileM = first + index % height, tileN = index / height;
  tile.row = (tileM * kShareB + (kShareB > 1 ? member : 0)) * kTileM;
  tile.column = (tileN * kShareA + (kShareA > 1 ? member : 0)) * kTileN;
  return tile;
}
__device__ __forceinline__ int firstTile() { return blockIdx.x / kClusterSize; }
__device__ __forceinline__ int tileStride() { return gridDim.x / kClusterSize; }
