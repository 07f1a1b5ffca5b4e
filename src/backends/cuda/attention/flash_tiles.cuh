// Fused attention on the matrix units of sm_80 and later, for 16-bit elements; with kWarpgroups on
// those that four warps of sm_90a share, which read keys and values from shared memory themselves.
//
// A block owns kRows queries of one head. Its warps stand in a grid: kRowWarps of them share the
// queries out, kKeyWarps share every tile of keys, and kKeyBlocks blocks of a cluster share the
// tiles. Each warp keeps its queries, its scores and its part of the results in registers:
//   scores = q kT;  weights = 2^(scores - peak);  results += weights v;  sum += weights
// The peak is the largest score so far, give or take kSlack, so that results seldom have to be
// scaled again. At the end, parts of the keys are brought to a common peak and added up.
//
// Before this file stand: Element, BiasElement, kHeadSize, kValueSize, kRowWarps, kKeyWarps,
// kKeyBlocks, kWarpRows, kKeys (of one warp in one tile), kStages, kSingleTile, kWarpgroups,
// kOverlaps (warpgroups multiply the next keys while they weigh these; three stages), kCausal,
// kHasBias, kBiasPairs (two neighbours of the bias can be read at once), kScale, kSoftcap.
namespace attention {

constexpr int kThreads = 32 * kRowWarps * kKeyWarps;
constexpr int kRows = kRowWarps * kWarpRows;
constexpr int kTileKeys = kKeyWarps * kKeys;
constexpr int kRowTiles = kWarpRows / 16;  // of the matrix units, per warp
constexpr int kKeyTiles = kKeys / 8;

// Rows in shared memory are an odd number of 16-byte words long, so that eight of them touch
// every bank once. Warpgroups want columns of 64 elements instead, whose words change places with
// the row.
constexpr int kStep = kWarpgroups ? 64 : 16;
constexpr int kHeadPadded = (kHeadSize + kStep - 1) / kStep * kStep;
constexpr int kValuePadded = (kValueSize + kStep - 1) / kStep * kStep;
constexpr int kPadding = kWarpgroups ? 0 : 16;
constexpr int kKeyPitch = 2 * kHeadPadded + kPadding;
constexpr int kValuePitch = 2 * kValuePadded + kPadding;
constexpr int kOutPitch = 2 * kValuePadded + 16;
constexpr int kQueryPitch = kKeyPitch > kOutPitch || kWarpgroups ? kKeyPitch : kOutPitch;
constexpr int kKeyBytes = kTileKeys * kKeyPitch;
constexpr int kStageBytes = kKeyBytes + kTileKeys * kValuePitch;
constexpr int kPartPitch = kValuePadded + 8;  // floats

// Products of warpgroups read all queries at once. Those that wait for them at once load them again
// for every tile: kept over the loop, ptxas 13.0 hands their registers to the weights.
constexpr bool kKeepsQueries =
    kWarpgroups ? kOverlaps || kSingleTile : kHeadPadded * kWarpRows <= 64 * 32;
constexpr int kQueryTiles = kKeepsQueries || kWarpgroups ? kHeadPadded / 16 : 1;
constexpr bool kSplitsKeys = kKeyWarps > 1 || kKeyBlocks > 1;

constexpr float kLog2e = 1.4426950408889634f;
constexpr float kSlack = 8;
constexpr float kFloor = -3e38f;  // stands for finite biases too low to scale
// Without a bias, scaling waits for the exponential, where it costs nothing.
constexpr bool kRawScores = !kHasBias && kSoftcap == 0 && kScale > 0;
constexpr float kFactor = kRawScores ? float(kScale) * kLog2e : 1;

// A bias as a power of two.
__device__ __forceinline__ float scaledBias(bool isSeen) { return isSeen ? 0 : negativeInfinity(); }
template <class T>
__device__ __forceinline__ float scaledBias(T bias) {
  const float value = toCompute(bias);
  return value == negativeInfinity() ? value : fmaxf(value * kLog2e, kFloor);
}

// What a block works on.
struct Place {
  int batch, head, firstRow, rank;  // rank: of the block in its cluster
  int firstTile, endTile;           // of the keys
};

// Causal blocks with most keys to see come first.
__device__ __forceinline__ Place placeOf(const Problem& p) {
  Place place;
  const int x = blockIdx.x / kKeyBlocks;
  const int blocks = (p.queries + kRows - 1) / kRows;
  place.rank = blockIdx.x % kKeyBlocks;
  place.head = blockIdx.y;
  place.batch = kCausal ? x % p.batches : x / blocks;
  const int block = kCausal ? blocks - 1 - x / p.batches : x % blocks;
  place.firstRow = block * kRows;
  int end = p.keys;
  if (kCausal) end = smaller(end, place.firstRow + kRows + p.causalOffset);
  const int tiles = end > 0 ? (end + kTileKeys - 1) / kTileKeys : 0;
  const int share = (tiles + kKeyBlocks - 1) / kKeyBlocks;
  place.firstTile = smaller(place.rank * share, tiles);
  place.endTile = smaller(place.firstTile + share, tiles);
  return place;
}

// Where word `word` of row `row` lies among kCount rows.
template <int kCount, int kPitch>
__device__ __forceinline__ int wordOffset(int row, int word) {
  if (kWarpgroups) return word / 8 * kCount * 128 + row * 128 + (word % 8 ^ row % 8) * 16;
  return row * kPitch + word * 16;
}

// Rows [first, first + kCount) of an operand into shared memory, zeros for what is not there.
template <int kCount, int kSize, int kPitch>
__device__ __forceinline__ void copyRows(SharedAddress to, const Element* from, long long stride,
                                         int first, int end) {
  constexpr int kWords = (kSize + kStep - 1) / kStep * kStep / 8;
#pragma unroll 8
  for (int base = 0; base < kCount * kWords; base += kThreads) {
    const int i = base + threadIdx.x;
    if (kCount * kWords % kThreads != 0 && i >= kCount * kWords) break;
    const int row = i / kWords, word = i % kWords;
    const bool isThere = first + row < end && (kSize % kStep == 0 || word * 8 < kSize);
    const Element* place = from + (first + row) * stride + word * 8;
    copyAsync(to + wordOffset<kCount, kPitch>(row, word), isThere ? place : from, isThere);
  }
}

// Until all but the last kPending copies of every thread have arrived.
template <int kPending>
__device__ __forceinline__ void syncCopies() {
  waitForCopies<kPending>();
  if (kWarpgroups) showToAsync();
  __syncthreads();
}

struct Loader {
  const Element *k, *v;
  long long kToken, vToken;
  int keys;
  SharedAddress shared;  // of the first stage

  __device__ __forceinline__ Loader(const Problem& p, const Place& place, SharedAddress shared)
      : kToken(p.kStride.token), vToken(p.vStride.token), keys(p.keys), shared(shared) {
    const int head = place.head / p.group;
    k = p.k + place.batch * p.kStride.batch + head * p.kStride.head;
    v = p.v + place.batch * p.vStride.batch + head * p.vStride.head;
  }
  __device__ __forceinline__ void copyKeys(int tile, int stage) const {
    copyRows<kTileKeys, kHeadSize, kKeyPitch>(shared + stage * kStageBytes, k, kToken,
                                              tile * kTileKeys, keys);
  }
  __device__ __forceinline__ void copyValues(int tile, int stage) const {
    copyRows<kTileKeys, kValueSize, kValuePitch>(shared + stage * kStageBytes + kKeyBytes, v,
                                                 vToken, tile * kTileKeys, keys);
  }
};

// Has the L2 cache take the keys and values of the block. Those that the kernel before writes are
// read from there too, so that nothing old is seen.
__device__ __forceinline__ void fetchAhead(const Problem& p) {
  const Place place = placeOf(p);
  const Loader loader(p, place, {});
  const int first = place.firstTile * kTileKeys, end = smaller(place.endTile * kTileKeys, p.keys);
  for (int key = first + threadIdx.x; key < end; key += kThreads) {
    fetchRow(loader.k + key * loader.kToken, kHeadSize * int(sizeof(Element)));
    fetchRow(loader.v + key * loader.vToken, kValueSize * int(sizeof(Element)));
  }
}

}  // namespace attention
