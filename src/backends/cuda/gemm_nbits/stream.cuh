// Products of at most eight rows by weights in chunks (tile.cuh), as fast as memory gives these
// (sm_90 and later). A block takes 16 columns after another, every gridDim.x-th of them. Their
// chunks are taken in units of kUnit, of which each warp has every kSlices-th copied for itself,
// kStages units ahead and across columns: warps wait for one another only for the sums of kHeld
// times 16 columns, and copies are under way before the kernels before this one have ended. The
// rows of A are in shared memory as a whole. Follows tile.cuh and device/barriers.cuh.
namespace nbits {

// A multiple of 16 bytes, of which the barrier is told.
__device__ __forceinline__ void copyBytes(SharedAddress to, const char* from, int bytes,
                                          SharedAddress barrier) {
  expectBytes(barrier, bytes);
#ifdef CAMSHAFT_EMULATOR
  for (int i = 0; i < bytes; ++i) to[i] = from[i];
#else
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::
          "r"(to),
      "l"(from), "r"(bytes), "r"(barrier)
      : "memory");
#endif
}

// Of the aligned kLanes lanes around this one.
template <int kLanes>
__device__ __forceinline__ float sumOfLanes(float sum) {
#pragma unroll
  for (int distance = 1; distance < kLanes; distance *= 2)
    sum += __shfl_xor_sync(0xffffffffu, sum, distance);
  return sum;
}

// kSlices warps. kAllDepth is the whole of k. With two halves, tiles of columns are in pairs, of
// which a block takes both, one after the other: a result is a gate of two sums.
template <class E, class Scale, int kBits, Zeros kZeros, int kScaleDepth, int kSlices, int kStages_,
          int kUnit_, int kAllDepth_, int kHalves_, int kStoredRows>
struct StreamTiling
    : Tiling<E, Scale, kBits, kZeros, kScaleDepth, 8, 16, 1, kSlices, kStages_, 1, kStoredRows> {
  using Base =
      Tiling<E, Scale, kBits, kZeros, kScaleDepth, 8, 16, 1, kSlices, kStages_, 1, kStoredRows>;
  // Numbers of f16 are multiplied as they lie in their words: bits without an exponent are that
  // number times 2^-24, or 2^-20 where they are the upper ones of their byte. What zero points take
  // away comes from the sums of A, once for each scale. A word then has whole pairs of such places.
  static constexpr bool kIsRaw = std::is_same_v<typename Base::Factor, f16> &&
                                 (kBits == 8 || (kBits == 4 && Base::kGroup == 32));
  static constexpr int kPlaces = 8 / kBits > 0 ? 8 / kBits : 1;
  // Pairs of A lie as they are multiplied: 0, 2, 1, 3 where those are of the same place.
  static constexpr bool kIsInPlaceOrder = kIsRaw && kPlaces == 2;
  static constexpr int kAllDepth = kAllDepth_, kHalves = kHalves_;
  static constexpr int kChunks = (kAllDepth + kChunkDepth - 1) / kChunkDepth;
  static constexpr int kUnit = kUnit_;
  static constexpr int kUnits = (kChunks + kUnit - 1) / kUnit;
  static constexpr int kUnitBytes = kUnit * Base::kChunkBytes;
  static constexpr int kAllParts = kChunks * Base::kParts;  // of a row of A, with a sum each

  static constexpr int kRowBytes = kChunks * kChunkDepth * int(sizeof(E)) + 64;
  // Where things are in shared memory: barriers, sums of the slices, sums of A, A, chunks.
  static constexpr int kTileSums = kSlices * kStoredRows * 16;  // floats
  // Of 16 bits only those of 16 columns: three blocks of 4096 deep products fit a multiprocessor.
  static constexpr int kHeldBytes = kBits < 16 ? 8192 : 0;
  static constexpr int kHeld =
      (kHeldBytes / 4 > kHalves * kTileSums ? kHeldBytes / 4 / (kHalves * kTileSums) : 1) * kHalves;
  static constexpr int kSliceSums = kSlices * Base::kStages * 8;
  static constexpr int kSquares = kStoredRows * kChunks;  // floats, in the place of those sums
  static constexpr int kPartSums =
      kSliceSums + (kHeld * kTileSums > kSquares ? kHeld * kTileSums : kSquares) * 4;
  static constexpr int kRowsAt =
      (kPartSums + (kIsRaw ? kStoredRows * kAllParts * 4 : 0) + 127) / 128 * 128;
  static constexpr int kChunksAt = (kRowsAt + kStoredRows * kRowBytes + 127) / 128 * 128;

  // The place among a half's tiles of the block's tile `index`, and among all.
  __device__ __forceinline__ static int placeOf(int index) {
    return blockIdx.x + index / kHalves * gridDim.x;
  }
  __device__ __forceinline__ static int tileOf(int index) {
    return placeOf(index) * kHalves + index % kHalves;
  }
};

// Has the units of the warp copied; its first lane does. Those of all columns of the block are
// counted on, so that warps have equally many.
template <class T>
struct ChunkStream {
  const char* const weights;
  const SharedAddress barriers, units;          // of the warp
  const int tiles;                              // of 16 columns
  int index = 0, unit = T::slice(), stage = 0;  // of what is copied next

  __device__ __forceinline__ ChunkStream(const void* weights, int tiles, SharedAddress memory)
      : weights(static_cast<const char*>(weights)),
        barriers(memory + T::slice() * T::kStages * 8),
        units(memory + T::kChunksAt + T::slice() * T::kStages * T::kUnitBytes),
        tiles(tiles) {}

  __device__ __forceinline__ void copyNext() {
    if (unit >= T::kUnits) {
      do {
        unit -= T::kUnits;
        ++index;
      } while (T::kUnits < T::kSlices && unit >= T::kUnits);
    }
    const int tile = T::tileOf(index);
    if (tile >= tiles) return;
    const int bytes = T::kChunks % T::kUnit == 0
                          ? T::kUnitBytes
                          : min(T::kUnitBytes, (T::kChunks - unit * T::kUnit) * T::kChunkBytes);
    copyBytes(units + stage * T::kUnitBytes,
              weights + static_cast<long long>(tile) * (T::kChunks * T::kChunkBytes) +
                  unit * T::kUnitBytes,
              bytes, barriers + stage * 8);
    stage = stage + 1 == T::kStages ? 0 : stage + 1;
    unit += T::kSlices;
  }
  // Before the kernel waits for others.
  __device__ __forceinline__ void begin() {
    if (threadIdx.x % 32 > 0) return;
    for (int i = 0; i < T::kStages; ++i) initBarrier(barriers + i * 8, 1);
    publishBarriers();
    for (int i = 0; i < T::kStages; ++i) copyNext();
  }
};

// Neighbours in a row of A, of which a thread has one in each round. Half a warp, or a whole one
// where elements are wide, has a chunk's.
template <class T>
struct RowPart {
  using E = typename T::Element;
  static constexpr int kNeighbours = 16 / sizeof(E), kLanes = kChunkDepth / kNeighbours;
  static constexpr int kPerRow = T::kChunks * kLanes;
  static constexpr int kRounds = (T::kStoredRows * kPerRow + T::kThreads - 1) / T::kThreads;
  // Few enough to stay in registers.
  static constexpr bool kAreHeld = kRounds <= 4;
  static constexpr int kHeld = kAreHeld ? kRounds : 1;
  using Values = Vector<E, kNeighbours>;

  const int at, row, k;
  __device__ __forceinline__ explicit RowPart(int round)
      : at(round * T::kThreads + threadIdx.x), row(at / kPerRow), k(at % kPerRow * kNeighbours) {}

  __device__ __forceinline__ bool isStored() const { return row < T::kStoredRows; }
  __device__ __forceinline__ E* placeIn(char* memory) const {
    return reinterpret_cast<E*>(memory + T::kRowsAt + row * T::kRowBytes) + k;
  }

  // Zeros in place of what is not there.
  __device__ __forceinline__ Values load(const E* a, int rows) const {
    Values values = {};
    if (row < rows && k < T::kAllDepth)
      values = loadVector<kNeighbours>(a + Index(row) * T::kAllDepth + k);
    return values;
  }

  // As they are multiplied, with their sums. By all threads.
  __device__ __forceinline__ void store(char* memory, Values values) const {
    if constexpr (T::kIsRaw) {
      // With what the zero point in the middle takes away, and in the unit of raw numbers.
      constexpr float kUnit = 1.0f / (1 << (24 - 8 + T::kBits));
      constexpr float kFactor =
          T::kZeros == Zeros::kMiddle ? -kUnit * (1 << (T::kBits - 1)) : kUnit;
      constexpr int kAlike = T::kScaleDepth / kNeighbours;  // lanes that have what has one scale
      float sum = 0;
#pragma unroll
      for (int j = 0; j < kNeighbours; ++j) sum += toCompute(values.v[j]);
      sum = sumOfLanes<kAlike>(sum);
      if (isStored() && threadIdx.x % kAlike == 0)
        reinterpret_cast<float*>(memory + T::kPartSums)[at / kAlike] = sum * kFactor;
    }
    if (!isStored()) return;
    if constexpr (T::kIsInPlaceOrder) {
#pragma unroll
      for (int j = 2; j < 4; ++j) {
        const E other = values.v[j];
        values.v[j] = values.v[j + 2];
        values.v[j + 2] = other;
      }
    }
    storeVector<kNeighbours>(placeIn(memory), values);
  }
};

// Rows of A into shared memory, with zeros in place of those that are not there and behind their
// ends, and their sums.
template <class T>
__device__ __forceinline__ void loadRows(char* memory, const typename T::Element* a, int rows) {
  using Part = RowPart<T>;
#pragma unroll 4
  for (int round = 0; round < Part::kRounds; ++round) {
    const Part part(round);
    part.store(memory, part.load(a, rows));
  }
  __syncthreads();
}

// What elements of a normalised row are multiplied by. Made before the kernel waits for others:
// those of parts that are held are under way then.
template <class T, class F>
struct RowFactors {
  using Part = RowPart<T>;
  using Values = Vector<F, Part::kNeighbours>;
  const F* const factors;
  Values held[Part::kHeld];

  __device__ __forceinline__ explicit RowFactors(const F* factors) : factors(factors) {
    if constexpr (Part::kAreHeld) {
#pragma unroll
      for (int round = 0; round < Part::kRounds; ++round) held[round] = load(Part(round));
    }
  }
  __device__ __forceinline__ Values load(const Part& part) const {
    Values values = {};
    if (part.k < T::kAllDepth) values = loadVector<Part::kNeighbours>(factors + part.k);
    return values;
  }
  __device__ __forceinline__ Values of(int round) const {
    return Part::kAreHeld ? held[round] : load(Part(round));
  }
};
template <class T>
struct NoFactors {
  __device__ __forceinline__ Vector<float, RowPart<T>::kNeighbours> of(int) const {
    Vector<float, RowPart<T>::kNeighbours> ones;
#pragma unroll
    for (float& one : ones.v) one = 1;
    return ones;
  }
};

// The same of rows that are divided by the root of their mean square. Sums of squares are those of
// chunks first, in the place of sums of the slices.
template <class T, class Factors>
__device__ __forceinline__ void loadNormalisedRows(char* memory, const typename T::Element* a,
                                                   int rows, float epsilon,
                                                   const Factors& factors) {
  using Part = RowPart<T>;
  constexpr int kUnrolled = Part::kAreHeld ? Part::kRounds : 4;
  float* const squares = reinterpret_cast<float*>(memory + T::kSliceSums);
  typename Part::Values held[Part::kHeld];
  if constexpr (Part::kAreHeld) {
#pragma unroll
    for (int round = 0; round < Part::kRounds; ++round) held[round] = Part(round).load(a, rows);
  }
#pragma unroll kUnrolled
  for (int round = 0; round < Part::kRounds; ++round) {
    const Part part(round);
    const auto values = Part::kAreHeld ? held[round] : part.load(a, rows);
    if (!Part::kAreHeld && part.isStored())
      storeVector<Part::kNeighbours>(part.placeIn(memory), values);
    float sum = 0;
#pragma unroll
    for (int j = 0; j < Part::kNeighbours; ++j)
      sum += toCompute(values.v[j]) * toCompute(values.v[j]);
    sum = sumOfLanes<Part::kLanes>(sum);
    if (part.isStored() && threadIdx.x % Part::kLanes == 0) squares[part.at / Part::kLanes] = sum;
  }
  __syncthreads();
  const auto scaleOf = [&](int row) {
    constexpr int kSteps = (T::kChunks + Part::kLanes - 1) / Part::kLanes;
    float sum = 0;
#pragma unroll 4
    for (int step = 0; step < kSteps; ++step) {
      const int chunk = step * Part::kLanes + threadIdx.x % Part::kLanes;
      if (chunk < T::kChunks) sum += squares[row * T::kChunks + chunk];
    }
    return rsqrt(sumOfLanes<Part::kLanes>(sum) * (1.0f / T::kAllDepth) + epsilon);
  };
  float scale = scaleOf(0);
#pragma unroll kUnrolled
  for (int round = 0; round < Part::kRounds; ++round) {
    const Part part(round);
    if constexpr (T::kStoredRows > 1) scale = scaleOf(min(part.row, T::kStoredRows - 1));
    typename Part::Values values = {};
    if constexpr (Part::kAreHeld)
      values = held[round];
    else if (part.isStored())
      values = loadVector<Part::kNeighbours>(part.placeIn(memory));
    const auto factor = factors.of(round);
#pragma unroll
    for (int j = 0; j < Part::kNeighbours; ++j)
      assign(values.v[j], toCompute(values.v[j]) * scale * toCompute(factor.v[j]));
    part.store(memory, values);
  }
  __syncthreads();
}

template <class T>
struct StreamProduct {
  using Tiles = Product<T>;  // of one tile
  using Source = typename Tiles::Source;
  static constexpr int kOwn = Tiles::kOwn, kTerms = Tiles::kTerms;
  static constexpr int kRowsOfLane = T::kStoredRows == 1 ? 1 : 2;

  float sums[1][1][4];

  __device__ __forceinline__ void clear() {
#pragma unroll
    for (float& sum : sums[0][0]) sum = 0;
  }

  // The row of a lane's result; of those that are not there, one that is.
  __device__ __forceinline__ static int rowOf(int v) {
    return min(int(threadIdx.x % 4 * 2 + v), T::kStoredRows - 1);
  }

  // A pair of raw numbers.
  __device__ __forceinline__ static unsigned rawPair(unsigned word, int pair) {
    constexpr unsigned kMask = 0x00010001u * ((1u << T::kBits) - 1);
    return (pair < T::kPlaces ? word : word >> 8) & kMask << (pair % T::kPlaces * T::kBits);
  }

  // A chunk in registers.
  typename Tiles::Words words[1];
  typename Tiles::Scales scales;
  typename Tiles::Offsets offsets;

  __device__ __forceinline__ void readChunk(const char* chunk) {
    words[0].read(chunk);
#pragma unroll
    for (int second = 0; second < 2; ++second) {
      const char* const behind = chunk + T::kNumberBytes;
      if constexpr (T::kIsScaled)
        scales[0][second] = Tiles::template perPart<typename T::Scale>(behind, second);
      if constexpr (T::kZeros != Zeros::kMiddle)
        offsets[0][second] =
            Tiles::template perPart<typename T::Numbers::Offset>(behind + T::kScaleBytes, second);
    }
  }

  // Adds it, with rows of A that begin at `rows` and their sums at `partSums`.
  __device__ __forceinline__ void addChunk(const char* rows, const float* partSums) {
    rows += threadIdx.x % 4 * kOwn * int(sizeof(typename T::Element));
    Vector<float, T::kParts> taken[kRowsOfLane];
    if constexpr (T::kIsRaw) {
#pragma unroll
      for (int v = 0; v < kRowsOfLane; ++v)
        taken[v] = loadVector<T::kParts>(partSums + rowOf(v) * T::kAllParts);
    }
#pragma unroll
    for (int part = 0; part < T::kParts; ++part) {
      if constexpr (T::kIsRaw) {
        addRawPart(rows, taken, part);
      } else if constexpr (T::kIsScaled) {
        typename Tiles::Sums whole = {};
        Tiles::addPart(whole, rows, words, offsets, part);
#pragma unroll
        for (int v = 0; v < 4; ++v)
          if (v % 2 < kRowsOfLane)
            sums[0][0][v] += whole[0][0][v] * toCompute(scales[0][v / 2].v[part]);
      } else {
        Tiles::addPart(sums, rows, words, offsets, part);
      }
    }
  }

  __device__ __forceinline__ void addRawPart(const char* rows,
                                             const Vector<float, T::kParts> (&taken)[kRowsOfLane],
                                             int part) {
    constexpr int kGroups = T::kScaleDepth / T::kGroup, kPairs = kOwn / 2;
    constexpr int kWordPairs = 16 / T::kBits;
    float whole[T::kPlaces][4] = {};
#pragma unroll
    for (int group = part * kGroups; group < (part + 1) * kGroups; ++group) {
      unsigned b[kTerms][kPairs];
      Source::template read<kOwn>(b, rows + threadIdx.x % 32 / 4 % T::kStoredRows * T::kRowBytes +
                                         group * T::kGroup * int(sizeof(typename T::Element)));
      // Two pairs of the same place at a time.
#pragma unroll
      for (int step = 0; step < kPairs / 2; ++step) {
        const int first = T::kPlaces == 2 ? step : 2 * step;
        const int second = first + T::kPlaces;
        unsigned a[4];
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          const int pair = group * kPairs + (i < 2 ? first : second);
          a[i] = rawPair(words[0].words[i % 2][pair / kWordPairs], pair % kWordPairs);
        }
        multiply(f16{}, whole[first % T::kPlaces], a, b[0][2 * step], b[0][2 * step + 1]);
      }
    }
#pragma unroll
    for (int v = 0; v < 4; ++v) {
      if (v % 2 >= kRowsOfLane) continue;
      float zero = taken[v % kRowsOfLane].v[part];
      if constexpr (T::kZeros == Zeros::kWhole)
        zero *= toCompute(offsets[0][v / 2].v[part]) + 1024;
      else if constexpr (T::kZeros == Zeros::kFraction)
        zero *= toCompute(offsets[0][v / 2].v[part]);
      float number = whole[T::kPlaces - 1][v] + zero;
      if constexpr (T::kPlaces == 2) number += whole[0][v] * 16;
      sums[0][0][v] += number * toCompute(scales[0][v / 2].v[part]);
    }
  }

  // Sums of the `held`-th 16 columns for others to see.
  __device__ __forceinline__ void show(char* memory, int held) const {
    constexpr float kUnit = T::kIsRaw ? float(1 << (24 - 8 + T::kBits)) : 1.0f;
    float* const shown = reinterpret_cast<float*>(memory + T::kSliceSums) + held * T::kTileSums;
#pragma unroll
    for (int v = 0; v < 4; ++v) {
      const int row = threadIdx.x % 4 * 2 + v % 2;
      if (row < T::kStoredRows)
        shown[(T::slice() * T::kStoredRows + row) * 16 + v / 2 * 8 + threadIdx.x % 32 / 4] =
            sums[0][0][v] * kUnit;
    }
  }
};

struct NoGate {
  __device__ __forceinline__ float operator()(float sum, float) const { return sum; }
};

// Results inside [rows, columns], of what is held from the block's tile `first` on, go to
// store(row, column, values).
template <class T, int kWidth, class Join, class Store>
__device__ __forceinline__ void storeHeld(char* memory, int first, const Join& join, int rows,
                                          Index columns, const Store& store) {
  constexpr int kPerRow = 16 / kWidth, kPerTile = T::kStoredRows * kPerRow;
  for (int i = threadIdx.x; i < T::kHeld / T::kHalves * kPerTile; i += T::kThreads) {
    const int held = i / kPerTile * T::kHalves, row = i % kPerTile / kPerRow;
    const int at = i % kPerRow * kWidth;
    const Index column = Index(T::placeOf(first + held)) * 16 + at;
    if (row >= rows || column >= columns) continue;
    const float* const shown = reinterpret_cast<const float*>(memory + T::kSliceSums) +
                               held * T::kTileSums + row * 16 + at;
    float sums[T::kHalves][kWidth] = {};
#pragma unroll
    for (int half = 0; half < T::kHalves; ++half)
#pragma unroll
      for (int slice = 0; slice < T::kSlices; ++slice) {
        const auto own =
            loadVector<kWidth>(shown + half * T::kTileSums + slice * T::kStoredRows * 16);
#pragma unroll
        for (int v = 0; v < kWidth; ++v) sums[half][v] += own.v[v];
      }
    float values[kWidth];
#pragma unroll
    for (int v = 0; v < kWidth; ++v) values[v] = join(sums[0][v], sums[T::kHalves - 1][v]);
    store(Index(row), column, values);
  }
}

// After ChunkStream::begin() and loadRows() or loadNormalisedRows().
template <class T, int kWidth, class Join, class Store>
__device__ __forceinline__ void multiplyStream(char* memory, ChunkStream<T>& stream,
                                               const Join& join, int rows, Index columns,
                                               const Store& store) {
  StreamProduct<T> product;
  int stage = 0, held = 0, first = 0, unit = T::slice();
  unsigned phase = 0;
  for (int index = 0; T::tileOf(index) < stream.tiles; ++index) {
    product.clear();
    for (; unit < T::kUnits; unit += T::kSlices) {
      wait(stream.barriers + stage * 8, phase);
      const char* const chunks =
          memory + T::kChunksAt + (T::slice() * T::kStages + stage) * T::kUnitBytes;
#pragma unroll
      for (int i = 0; i < T::kUnit; ++i) {
        const int chunk = unit * T::kUnit + i;
        const bool isThere = T::kChunks % T::kUnit == 0 || chunk < T::kChunks;
        if (isThere) product.readChunk(chunks + i * T::kChunkBytes);
        if (i == T::kUnit - 1) {  // all is in registers
          __syncwarp();
          if (threadIdx.x % 32 == 0) stream.copyNext();
        }
        if (isThere)
          product.addChunk(
              memory + T::kRowsAt + chunk * kChunkDepth * int(sizeof(typename T::Element)),
              reinterpret_cast<const float*>(memory + T::kPartSums) + chunk * T::kParts);
      }
      if (++stage == T::kStages) {
        stage = 0;
        phase ^= 1;
      }
    }
    unit -= T::kUnits;
    product.show(memory, held);
    if (++held < T::kHeld && T::tileOf(index + 1) < stream.tiles) continue;
    __syncthreads();
    storeHeld<T, kWidth>(memory, first, join, rows, columns, store);
    __syncthreads();
    held = 0;
    first = index + 1;
  }
}

}  // namespace nbits
