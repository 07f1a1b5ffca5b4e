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
// Keys and values of 8 bits are elements in shared memory: those of the next tile wait in registers
// until this one is done.
//
// Before this file stand: Element, Stored, BiasElement, kHeadSize, kValueSize, kRowWarps,
// kKeyWarps, kKeyBlocks, kWarpRows, kKeys (of one warp in one tile), kStages, kSingleTile,
// kWarpgroups, kOverlaps (warpgroups multiply the next keys while they weigh these; three stages),
// kCausal, kHasBias, kBiasPairs (two neighbours of the bias can be read at once), kScale, kSoftcap.
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
constexpr bool kReadsBytes = sizeof(Stored) == 1;  // with two stages, and without kOverlaps

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

// Words of eight elements in kCount rows of kSize elements, padded, and how many a thread has.
template <int kCount, int kSize>
constexpr int kWordsOf = kCount * ((kSize + kStep - 1) / kStep * kStep / 8);
template <int kCount, int kSize>
constexpr int kOwnWords = (kWordsOf<kCount, kSize> + kThreads - 1) / kThreads;

// Calls visit(n, row, word, isThere) for the thread's words of rows [first, first + kCount).
template <int kCount, int kSize, int kUnrolled, class F>
__device__ __forceinline__ void forOwnWords(int first, int end, const F& visit) {
  constexpr int kWords = kWordsOf<kCount, kSize>, kRowWords = kWords / kCount;
#pragma unroll kUnrolled
  for (int n = 0; n < kOwnWords<kCount, kSize>; ++n) {
    const int i = n * kThreads + threadIdx.x;
    if (kWords % kThreads != 0 && i >= kWords) break;
    const int row = i / kRowWords, word = i % kRowWords;
    visit(n, row, word, first + row < end && (kSize % kStep == 0 || word * 8 < kSize));
  }
}

// Rows [first, first + kCount) of an operand into shared memory, zeros for what is not there.
template <int kCount, int kSize, int kPitch>
__device__ __forceinline__ void copyRows(SharedAddress to, const Tokens<const Element>& from,
                                         int first, int end) {
  forOwnWords<kCount, kSize, 8>(first, end, [&](int, int row, int word, bool isThere) {
    const Element* place = from.at(first + row) + word * 8;
    copyAsync(to + wordOffset<kCount, kPitch>(row, word), isThere ? place : from.first, isThere);
  });
}

// Two neighbours of 8 bits as elements, from byte `at` of a word on.
template <class S>
__device__ __forceinline__ unsigned widened(f16, unsigned word, int at) {
  if constexpr (kIsFloat8<S>) return float8Halves<S>(word >> 8 * at);
  // Bytes with 128 added to them, below the bits of 1024; then less 1024 and 128.
  const unsigned above = __byte_perm(word ^ 0x80808080u, 0x64646464u, at == 0 ? 0x4140 : 0x4342);
  return addPairs(f16{}, above, 0xe480e480u);
}
template <class S>
__device__ __forceinline__ unsigned widened(bf16, unsigned word, int at) {
  const unsigned halves = widened<S>(f16{}, word, at);
  return packed(bf16{}, toCompute(f16{static_cast<unsigned short>(halves)}),
                toCompute(f16{static_cast<unsigned short>(halves >> 16)}));
}

// Keys or values of a tile on their way to shared memory: taken, then put there. Copies arrive by
// themselves.
template <int kSize, int kPitch>
struct CopiedRows {
  __device__ __forceinline__ void take(SharedAddress to, const Tokens<const Stored>& from,
                                       int first, int end) {
    copyRows<kTileKeys, kSize, kPitch>(to, from, first, end);
  }
  __device__ __forceinline__ void put(SharedAddress) const {}
};
// The same for bytes, which become elements in registers.
template <int kSize, int kPitch>
struct HeldRows {
  ByteWords<Stored, 8> words[kOwnWords<kTileKeys, kSize>];

  __device__ __forceinline__ void take(SharedAddress, const Tokens<const Stored>& from, int first,
                                       int end) {
    forOwnWords<kTileKeys, kSize, 64>(first, end, [&](int n, int row, int word, bool isThere) {
      words[n] = {};
      if (isThere) words[n] = readElements<8>(from.at(first + row) + word * 8);
    });
  }
  __device__ __forceinline__ void put(SharedAddress to) const {
    forOwnWords<kTileKeys, kSize, 64>(0, 0, [&](int n, int row, int word, bool) {
      Vector<unsigned, 4> elements;
#pragma unroll
      for (int i = 0; i < 4; ++i)
        elements.v[i] = widened<Stored>(Element{}, words[n].words[i / 2], i % 2 * 2);
      storeShared(to + wordOffset<kTileKeys, kPitch>(row, word), elements);
    });
  }
};
template <int kSize, int kPitch>
using Rows = std::conditional_t<kReadsBytes, HeldRows<kSize, kPitch>, CopiedRows<kSize, kPitch>>;

// Until all but the last kPending copies of every thread have arrived.
template <int kPending>
__device__ __forceinline__ void syncCopies() {
  waitForCopies<kPending>();
  if (kWarpgroups) showToAsync();
  __syncthreads();
}

// Brings keys and values to shared memory: what was taken is put there.
struct Loader {
  Tokens<const Stored> k, v;
  int keys;
  SharedAddress shared;  // of the first stage
  Rows<kHeadSize, kKeyPitch> keyRows;
  Rows<kValueSize, kValuePitch> valueRows;

  __device__ __forceinline__ Loader(const Problem& p, const Place& place, SharedAddress shared)
      : k(p.k, p.kStride, place.batch, place.head / p.group),
        v(p.v, p.vStride, place.batch, place.head / p.group),
        keys(p.keys),
        shared(shared) {}
  __device__ __forceinline__ SharedAddress keysOf(int stage) const {
    return shared + stage * kStageBytes;
  }
  __device__ __forceinline__ SharedAddress valuesOf(int stage) const {
    return keysOf(stage) + kKeyBytes;
  }
  __device__ __forceinline__ void takeKeys(int tile, int stage) {
    keyRows.take(keysOf(stage), k, tile * kTileKeys, keys);
  }
  __device__ __forceinline__ void takeValues(int tile, int stage) {
    valueRows.take(valuesOf(stage), v, tile * kTileKeys, keys);
  }
  __device__ __forceinline__ void putKeys(int stage) const { keyRows.put(keysOf(stage)); }
  __device__ __forceinline__ void putValues(int stage) const { valueRows.put(valuesOf(stage)); }
};

// Has the L2 cache take the keys and values of the block. Those that the kernel before writes are
// read from there too, so that nothing old is seen.
__device__ __forceinline__ void fetchAhead(const Problem& p) {
  const Place place = placeOf(p);
  const Loader loader(p, place, {});
  const int first = place.firstTile * kTileKeys, end = smaller(place.endTile * kTileKeys, p.keys);
  for (int key = first + threadIdx.x; key < end; key += kThreads) {
    fetchRow(loader.k.at(key), kHeadSize * int(sizeof(Stored)));
    fetchRow(loader.v.at(key), kValueSize * int(sizeof(Stored)));
  }
}

}  // namespace attention
