// Tiles of products with weights of a few bits on tensor cores (sm_80 and later), which unpack the
// weights in registers: D[row, column] = sum over k of A[row, k] (number[column, k] - zero) scale.
// The instruction's first operand is 16 columns of weights, its second 8 rows of A, so that one row
// costs what eight do. Follows unpack.cuh.
//
// Weights come in chunks of 16 columns and kChunkDepth steps of k, one after the other along k:
// numbers, 16 bytes of each lane after another; then a scale for each column and kScaleDepth steps;
// then an offset for each, where there are zero points. Which element a lane holds is free as long
// as both operands agree. A lane of columns `lane / 4` and that + 8 has the kGroup / 4 neighbours
// along k from lane % 4 * kGroup / 4 on of every kGroup (packed.cpp).
namespace nbits {

using namespace mma;

constexpr int kChunkDepth = 128;

// A as the tensor cores take it: bf16 and f16 as they are, f32 as the sum of three bf16.
template <class E>
struct Factors {
  using Factor = E;
  static constexpr int kTerms = 1;
  template <int kCount>
  __device__ __forceinline__ static void read(unsigned (&pairs)[1][kCount / 2], const char* from) {
    const auto values = loadVector<kCount / 2>(reinterpret_cast<const unsigned*>(from));
#pragma unroll
    for (int i = 0; i < kCount / 2; ++i) pairs[0][i] = values.v[i];
  }
};
template <>
struct Factors<float> {
  using Factor = bf16;
  static constexpr int kTerms = 3;
  template <int kCount>
  __device__ __forceinline__ static void read(unsigned (&pairs)[3][kCount / 2], const char* from) {
#pragma unroll
    for (int i = 0; i < kCount; i += 2) {
      auto values = loadVector<2>(reinterpret_cast<const float*>(from) + i);
#pragma unroll
      for (int term = 0; term < 3; ++term) {
        const unsigned low = __float_as_uint(values.v[0]), high = __float_as_uint(values.v[1]);
        pairs[term][i / 2] = low >> 16 | (high & 0xffff0000u);
#pragma unroll
        for (float& value : values.v) {
          const float upper = __uint_as_float(__float_as_uint(value) & 0xffff0000u);
          value = value == upper ? 0 : value - upper;  // infinities have no rest
        }
      }
    }
  }
};

// kRows x kColumns results. The warps are kWarpsN along the columns by kSlices along k: each slice
// has a chunk of every step. Of fewer than eight rows, kStoredRows are kept and read again in place
// of the others.
template <class E, class Scale_, int kBits_, Zeros kZeros_, int kScaleDepth_, int kRows_,
          int kColumns_, int kWarpsN_, int kSlices_, int kStages_, int kSplits_, int kStoredRows_>
struct Tiling : SplitDepth<kSplits_> {
  using Element = E;
  using Sum = float;
  using Scale = Scale_;
  using Factor = typename Factors<E>::Factor;
  using Numbers = Unpack<Factor, kBits_, kZeros_>;
  static constexpr Zeros kZeros = kZeros_;
  static constexpr int kBits = kBits_, kRows = kRows_, kColumns = kColumns_;
  static constexpr int kWarpsN = kWarpsN_, kSlices = kSlices_, kStages = kStages_;
  static constexpr bool kIsScaled = kBits < 16;
  static constexpr int kScaleDepth = kScaleDepth_, kGroup = kScaleDepth < 32 ? 16 : 32;
  static constexpr int kDepth = kSlices * kChunkDepth, kThreads = 32 * kWarpsN * kSlices;
  static constexpr int kWarpColumns = kColumns / kWarpsN;
  static constexpr int kPitch = kColumns + 8;  // of sums in shared memory
  __device__ __forceinline__ static int sumColumn(int column) { return column; }

  static constexpr int kNumberBytes = 16 * kChunkDepth * kBits / 8;
  static constexpr int kParts = kChunkDepth / kScaleDepth;  // of a chunk, with a scale each
  static constexpr int kScaleBytes = kIsScaled ? kParts * 16 * int(sizeof(Scale)) : 0;
  static constexpr int kOffsetBytes =
      kZeros == Zeros::kMiddle ? 0 : kParts * 16 * int(sizeof(typename Numbers::Offset));
  static constexpr int kChunkBytes = kNumberBytes + kScaleBytes + kOffsetBytes;

  static constexpr int kStoredRows = kStoredRows_;
  static constexpr int kRowBytes = kDepth * int(sizeof(E)) + 64;  // of A: two in different banks
  static constexpr int kBytesA = (kStoredRows * kRowBytes + 127) / 128 * 128;
  static constexpr int kStageBytes = kBytesA + kColumns / 16 * kSlices * kChunkBytes;

  __device__ __forceinline__ static int warpN() { return threadIdx.x / 32 % kWarpsN; }
  __device__ __forceinline__ static int slice() { return threadIdx.x / 32 / kWarpsN; }
};

// Copies rows of A, 16 bytes at a time; zeros where it ends.
template <class T>
struct RowSource {
  const typename T::Element* from;
  Index depth;  // also the pitch
  Index k;
  int rows;  // that are there

  __device__ __forceinline__ RowSource(const typename T::Element* a, Index depth, Index firstRow,
                                       Index endRow, int firstStep)
      : from(a + firstRow * depth),
        depth(depth),
        k(Index(firstStep) * T::kDepth),
        rows(static_cast<int>(endRow - firstRow < T::kStoredRows ? endRow - firstRow
                                                                 : T::kStoredRows)) {}

  __device__ __forceinline__ void copy(SharedAddress to) {
    constexpr int kNeighbours = 16 / sizeof(typename T::Element);
    constexpr int kPerRow = T::kDepth / kNeighbours;
    for (int i = threadIdx.x; i < T::kStoredRows * kPerRow; i += T::kThreads) {
      const int row = i / kPerRow, part = i % kPerRow;
      const Index at = k + part * kNeighbours;
      const bool isThere = row < rows && at < depth;
      copyAsync(to + row * T::kRowBytes + part * 16, isThere ? from + row * depth + at : from,
                isThere);
    }
    k += T::kDepth;
  }
};

// Copies the chunks of the warp's columns and slice; zeros where there are none.
template <class T>
struct ChunkSource {
  const char* from;  // of the warp's first columns
  Index pitch;       // bytes of 16 columns
  int chunk, chunks, tiles;

  __device__ __forceinline__ ChunkSource(const void* weights, int chunks, Index firstColumn,
                                         Index endColumn, int firstStep)
      : pitch(Index(chunks) * T::kChunkBytes),
        chunk(firstStep * T::kSlices + T::slice()),
        chunks(chunks) {
    const Index tile = (firstColumn + T::warpN() * T::kWarpColumns) / 16;
    from = static_cast<const char*>(weights) + static_cast<long long>(tile) * pitch;
    tiles = static_cast<int>(min(Index(T::kWarpColumns / 16), (endColumn + 15) / 16 - tile));
  }

  __device__ __forceinline__ void copy(SharedAddress to) {
    to += (T::slice() * T::kWarpsN + T::warpN()) * (T::kWarpColumns / 16) * T::kChunkBytes;
#pragma unroll
    for (int tile = 0; tile < T::kWarpColumns / 16; ++tile) {
      const bool isThere = tile < tiles && chunk < chunks;
      const char* const place =
          isThere ? from + static_cast<long long>(tile) * pitch + Index(chunk) * T::kChunkBytes
                  : from;
      for (int i = threadIdx.x % 32 * 16; i < T::kChunkBytes; i += 32 * 16)
        copyAsync(to + tile * T::kChunkBytes + i, isThere ? place + i : place, isThere);
    }
    chunk += T::kSlices;
  }
};

template <class T>
struct Product {
  static constexpr int kTilesN = T::kWarpColumns / 16, kTilesM = T::kRows / 8;
  using Factor = typename T::Factor;
  using Source = Factors<typename T::Element>;
  static constexpr int kTerms = Source::kTerms;
  static constexpr int kOwn = T::kGroup / 4;  // neighbours along k that a lane has of a group

  float sums[kTilesN][kTilesM][4];

  __device__ __forceinline__ Product() {
#pragma unroll
    for (int i = 0; i < kTilesN; ++i)
#pragma unroll
      for (int j = 0; j < kTilesM; ++j)
#pragma unroll
        for (int k = 0; k < 4; ++k) sums[i][j][k] = 0;
  }

  // The lane's words of a chunk: of its first column, two of every 16 bytes, and of its second.
  static constexpr int kWords = T::kBits;
  struct Words {
    unsigned words[2][kWords];
    __device__ __forceinline__ void read(const char* chunk) {
#pragma unroll
      for (int i = 0; i < kWords / 2; ++i) {
        const auto part = loadVector<4>(
            reinterpret_cast<const unsigned*>(chunk + i * 512 + threadIdx.x % 32 * 16));
        words[0][2 * i] = part.v[0], words[0][2 * i + 1] = part.v[1];
        words[1][2 * i] = part.v[2], words[1][2 * i + 1] = part.v[3];
      }
    }
  };

  // Adds a group to `to`: its numbers from `first` on, in the lane's order.
  __device__ __forceinline__ static void addGroup(float (&to)[kTilesM][4], const Words& words,
                                                  const typename T::Numbers (&unpack)[2],
                                                  const unsigned (&b)[kTilesM][kTerms][kOwn / 2],
                                                  int first) {
    constexpr int kPairs = T::Numbers::kPairs;
#pragma unroll
    for (int step = 0; step < T::kGroup / 16; ++step) {
      unsigned a[4];
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const int pair = first / 2 + step * 2 + i / 2;
        a[i] = unpack[i % 2](words.words[i % 2][pair / kPairs], pair % kPairs);
      }
#pragma unroll
      for (int j = 0; j < kTilesM; ++j)
#pragma unroll
        for (int term = 0; term < kTerms; ++term)
          multiply(Factor{}, to[j], a, b[j][term][step * 2], b[j][term][step * 2 + 1]);
    }
  }

  // A column's scales or offsets, of all parts.
  template <class V>
  __device__ __forceinline__ static Vector<V, T::kParts> perPart(const char* from, int second) {
    const int column = second * 8 + threadIdx.x % 32 / 4;
    return loadVector<T::kParts>(reinterpret_cast<const V*>(from) + column * T::kParts);
  }
  using Scales = Vector<typename T::Scale, T::kParts>[kTilesN][2];
  using Offsets = Vector<typename T::Numbers::Offset, T::kParts>[kTilesN][2];
  using Sums = float[kTilesN][kTilesM][4];

  __device__ __forceinline__ void addStage(const char* stage) {
    constexpr int kBytes = sizeof(typename T::Element);
    const int lane = threadIdx.x % 32;
    const char* const rows = stage + (T::slice() * kChunkDepth + lane % 4 * kOwn) * kBytes;
    const char* const chunks =
        stage + T::kBytesA + (T::slice() * T::kWarpsN + T::warpN()) * kTilesN * T::kChunkBytes;
    Words words[kTilesN];
    Scales scales;
    Offsets offsets;
#pragma unroll
    for (int i = 0; i < kTilesN; ++i) {
      const char* const chunk = chunks + i * T::kChunkBytes;
      words[i].read(chunk);
#pragma unroll
      for (int second = 0; second < 2; ++second) {
        const char* const behind = chunk + T::kNumberBytes;
        if constexpr (T::kIsScaled) scales[i][second] = perPart<typename T::Scale>(behind, second);
        if constexpr (T::kZeros != Zeros::kMiddle)
          offsets[i][second] =
              perPart<typename T::Numbers::Offset>(behind + T::kScaleBytes, second);
      }
    }
#pragma unroll
    for (int part = 0; part < T::kParts; ++part) {
      if constexpr (T::kIsScaled) {
        Sums whole = {};
        addPart(whole, rows, words, offsets, part);
        addScaled(whole, scales, part);
      } else {
        addPart(sums, rows, words, offsets, part);
      }
    }
  }

  // What has one scale.
  __device__ __forceinline__ static void addPart(Sums& to, const char* rows,
                                                 const Words (&words)[kTilesN],
                                                 const Offsets& offsets, int part) {
    typename T::Numbers unpack[kTilesN][2];
    if constexpr (T::kZeros != Zeros::kMiddle) {
#pragma unroll
      for (int i = 0; i < kTilesN * 2; ++i) unpack[i / 2][i % 2].set(offsets[i / 2][i % 2].v[part]);
    }
    constexpr int kGroups = T::kScaleDepth / T::kGroup;
#pragma unroll
    for (int group = part * kGroups; group < (part + 1) * kGroups; ++group) {
      unsigned b[kTilesM][kTerms][kOwn / 2];
#pragma unroll
      for (int j = 0; j < kTilesM; ++j)
        Source::template read<kOwn>(
            b[j], rows + (j * 8 + threadIdx.x % 32 / 4) % T::kStoredRows * T::kRowBytes +
                      group * T::kGroup * int(sizeof(typename T::Element)));
#pragma unroll
      for (int i = 0; i < kTilesN; ++i) addGroup(to[i], words[i], unpack[i], b, group * kOwn);
    }
  }

  // Of one row only the first of a lane's two is there.
  __device__ __forceinline__ void addScaled(const Sums& whole, const Scales& scales, int part) {
    constexpr int kRowsOfLane = T::kStoredRows == 1 ? 1 : 2;
#pragma unroll
    for (int i = 0; i < kTilesN; ++i)
#pragma unroll
      for (int second = 0; second < 2; ++second) {
        const float scale = toCompute(scales[i][second].v[part]);
#pragma unroll
        for (int j = 0; j < kTilesM; ++j)
#pragma unroll
          for (int v = second * 2; v < second * 2 + kRowsOfLane; ++v)
            sums[i][j][v] += whole[i][j][v] * scale;
      }
  }

  // Results inside [rows, columns] go to store(row, column, values).
  template <int kWidth, class Store>
  __device__ __forceinline__ void finish(char* memory, const TilePlace<T>& tile, Index rows,
                                         Index columns, const Store& store) const {
    const int lane = threadIdx.x % 32;
    float* const shown = reinterpret_cast<float*>(memory) + T::slice() * T::kRows * T::kPitch;
#pragma unroll
    for (int i = 0; i < kTilesN; ++i)
#pragma unroll
      for (int j = 0; j < kTilesM; ++j)
#pragma unroll
        for (int v = 0; v < 4; ++v)
          shown[(j * 8 + lane % 4 * 2 + v % 2) * T::kPitch + T::warpN() * T::kWarpColumns + i * 16 +
                v / 2 * 8 + lane / 4] = sums[i][j][v];
    storeTile<T, kWidth>(memory, tile, rows, columns, store);
  }
};

}  // namespace nbits
