// Convolutions of images of few channels, channels last: a block has the part of the image that its
// results need in shared memory, and tensor cores get their operands from there, a word of four
// bytes at a time. Follows gemm/mma.cuh.
namespace stem {

// Sizes of the image and the result; along y all 1 for images of one dimension.
struct ImageSizes {
  Index height, breadth, outHeight, outBreadth;
};

// A block computes kRows x kBreadth places of an image, kColumns channels of each. k counts through
// (kernel y, run), a run being the elements of a row of the window, which are neighbours in memory,
// in kRun words. A warp has kTiles times 16 places that are neighbours along x.
//
// The strip of the image lies in shared memory in rows of kPitch bytes, kCopies times, kCopyBytes
// apart: copy i without its first i * kUnit bytes, so that every place's run begins at a whole word
// in one of them.
template <class A_, class B_, class Y_, class X_, int channels, int rows, int breadth, int columns,
          int tiles, int run, int pitch, int copyBytes>
struct Strip {
  using A = A_;
  using B = B_;
  using Y = Y_;
  using X = X_;
  using Sum = std::conditional_t<sizeof(A) == 1, int, float>;
  static constexpr int kRows = rows, kBreadth = breadth, kColumns = columns, kTiles = tiles;
  static constexpr int kRun = run, kPitch = pitch, kCopyBytes = copyBytes;
  static constexpr int kWarps = kRows * kBreadth / 16 / kTiles, kThreads = 32 * kWarps;
  static constexpr int kPixelBytes = channels * sizeof(A);
  static constexpr int kRunBytes = X::kKernel * kPixelBytes;
  static constexpr int kPlaceBytes = X::kStride * kPixelBytes;  // from a place to the next
  static constexpr int kUnit = kPlaceBytes % 4 == 0 ? 4 : kPlaceBytes % 2 == 0 ? 2 : 1;
  static constexpr int kCopies = 4 / kUnit;
  static constexpr int kStripRows = (kRows - 1) * Y::kStride + (Y::kKernel - 1) * Y::kDilation + 1;
  static constexpr int kRowWords = ((kBreadth - 1) * kPlaceBytes + kRunBytes + 3) / 4;
  static constexpr int kWords = Y::kKernel * kRun, kSteps = (kWords + 7) / 8;  // of k
  static constexpr int kWeightBytes = kSteps * kColumns * 32;
  static constexpr int kTilesAcross = kBreadth / 16;

  // Where a tile of 16 places lies in the block.
  __device__ __forceinline__ static int tileRow(int tile) { return tile / kTilesAcross; }
  __device__ __forceinline__ static int tileColumn(int tile) { return tile % kTilesAcross * 16; }
  __device__ __forceinline__ static int firstTile() { return threadIdx.x / 32 * kTiles; }
  // In the strip, from a warp's first tile: known while compiling.
  __device__ __forceinline__ static constexpr int tileOffset(int tile) {
    static_assert(kTilesAcross % kTiles == 0 || kTiles % kTilesAcross == 0);
    return tile / kTilesAcross * Y::kStride * kPitch + tile % kTilesAcross * 16 * kPlaceBytes;
  }
  // Where word w of k lies, from the first.
  __device__ __forceinline__ static constexpr int wordOffset(int w) {
    return w / kRun * Y::kDilation * kPitch + w % kRun * 4;
  }
  // Words beyond the last row of a window are any after it.
  static constexpr int kToNextRun = Y::kDilation * kPitch - 4 * kRun;
  __device__ __forceinline__ static constexpr bool beginsRun(int w) {
    return w % kRun == 0 && w < kWords;
  }
  // Bits of word w of k that belong to a window.
  __device__ __forceinline__ static constexpr unsigned wordBits(int w) {
    const int bytes = w < kWords ? kRunBytes - w % kRun * 4 : 0;
    return bytes >= 4 ? ~0u : bytes <= 0 ? 0u : ~(~0u << (8 * bytes));
  }
};

// What a block has: places of an image from (y, x) on, and channels. Blocks count through channels
// first, then along x, y, and through images.
template <class S>
struct StripPlace {
  Index image, y, x, column;

  __device__ __forceinline__ StripPlace(Index tilesN, Index tilesX, Index tilesY) {
    Index block = blockIdx.x;
    column = block % tilesN * S::kColumns;
    block /= tilesN;
    x = block % tilesX * S::kBreadth;
    block /= tilesX;
    y = block % tilesY * S::kRows;
    image = block / tilesY;
  }
};

// Where a strip lies: all of it within the rows of the image, some of it beside them, or where the
// tensor ends in the middle of a word, whose other bytes are not read.
enum class Where { kInside, kBeside, kAtEnd };

// A row of an image as words at multiples of four bytes of the tensor, whose bytes outside the row
// are padding.
struct ImageRow {
  const char* tensor;
  long long begin;  // the row's, and the tensor's end
  long long limit;
  int bytes;  // of the row
  bool isThere;
  unsigned padding;

  __device__ __forceinline__ static unsigned firstBytes(int count) {
    return count >= 4 ? ~0u : count <= 0 ? 0u : ~(~0u << (8 * count));
  }
  // The word from byte `at` of the row on. Something of the row is always read.
  template <Where kWhere>
  __device__ __forceinline__ unsigned word(int at) const {
    const int low = -static_cast<int>(begin & 3), high = low + ((bytes - low - 1) & ~3);
    const long long place = begin + (kWhere == Where::kInside ? at : min(max(at, low), high));
    unsigned word = 0;
    if (kWhere == Where::kAtEnd && place + 4 > limit) {
      for (int i = 0; place + i < limit; ++i)
        word |= unsigned(static_cast<unsigned char>(tensor[place + i])) << (8 * i);
    } else {
      word = *reinterpret_cast<const unsigned*>(tensor + place);
    }
    if (kWhere == Where::kInside) return isThere ? word : padding;
    const unsigned kept = isThere ? firstBytes(bytes - at) & ~firstBytes(-at) : 0;
    return (word & kept) | (padding & ~kept);
  }
};

// Warps copy a row each at a time. Threads that have nothing to copy do what the last one does, so
// that there are no branches, and several reads are under way at once.
template <class S, Where kWhere>
__device__ __forceinline__ void fillRows(char* strip, ImageRow row, int height, int y, int x) {
  constexpr int kPasses = (S::kRowWords + 31) / 32, kParts = S::kCopies * kPasses;
  constexpr int kTurns = (S::kStripRows + S::kWarps - 1) / S::kWarps;  // of a warp
  constexpr int kMost = kWhere == Where::kAtEnd || kParts >= 16 ? 1 : 16 / kParts;
  constexpr int kTogether = kTurns < kMost ? kTurns : kMost;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const long long first = row.begin;
#pragma unroll(kWhere == Where::kAtEnd ? 1 : 64)
  for (int turn = 0; turn < kTurns; turn += kTogether) {
    unsigned words[kTogether][kParts];
#pragma unroll
    for (int i = 0; i < kTogether; ++i) {
      const int own = y + min((turn + i) * S::kWarps + warp, S::kStripRows - 1);
      row.begin = first + static_cast<long long>(min(max(own, 0), height - 1)) * row.bytes;
      row.isThere = static_cast<unsigned>(own) < static_cast<unsigned>(height);
#pragma unroll
      for (int part = 0; part < kParts; ++part) {
        // Of the row's bytes, and of their place in the tensor.
        const int begin = x * S::kPixelBytes + part / kPasses * S::kUnit;
        const int shift = static_cast<int>(row.begin + begin) & 3;
        const int at = begin - shift + 4 * min(part % kPasses * 32 + lane, S::kRowWords - 1);
        words[i][part] =
            static_cast<unsigned>((static_cast<unsigned long long>(row.word<kWhere>(at + 4)) << 32 |
                                   row.word<kWhere>(at)) >>
                                  (8 * shift));
      }
    }
#pragma unroll
    for (int i = 0; i < kTogether; ++i)
#pragma unroll
      for (int part = 0; part < kParts; ++part)
        *reinterpret_cast<unsigned*>(
            strip + part / kPasses * S::kCopyBytes +
            min((turn + i) * S::kWarps + warp, S::kStripRows - 1) * S::kPitch +
            4 * min(part % kPasses * 32 + lane, S::kRowWords - 1)) = words[i][part];
  }
}

// Copies the strip of the block's places, with padding around the image: four bytes of it, or two
// elements.
template <class S>
__device__ __forceinline__ void fillStrip(char* strip, const typename S::A* images,
                                          const ImageSizes& sizes, Index count,
                                          const StripPlace<S>& place, unsigned padding) {
  const int bytes = static_cast<int>(sizes.breadth) * S::kPixelBytes;
  const int height = static_cast<int>(sizes.height);
  const long long image = static_cast<long long>(bytes) * height;
  const int y = static_cast<int>(place.y) * S::Y::kStride - S::Y::kPad;
  const int x = static_cast<int>(place.x) * S::X::kStride - S::X::kPad;
  const ImageRow row{reinterpret_cast<const char*>(images),
                     place.image * image,
                     count * image,
                     bytes,
                     true,
                     padding};
  const int begin = x * S::kPixelBytes;
  if (begin >= 0 && begin + 4 * S::kRowWords + 8 <= bytes)
    fillRows<S, Where::kInside>(strip, row, height, y, x);
  else if (row.limit % 4 == 0 || place.image + 1 < count)
    fillRows<S, Where::kBeside>(strip, row, height, y, x);
  else
    fillRows<S, Where::kAtEnd>(strip, row, height, y, x);
}

// Copies what the block needs of the weights, which lie as the lanes read them.
template <class S>
__device__ __forceinline__ void copyWeights(char* to, const void* weights, Index column) {
  const char* const from =
      static_cast<const char*>(weights) + column / S::kColumns * S::kWeightBytes;
#pragma unroll
  for (int i = 0; i < S::kWeightBytes; i += 16 * S::kThreads) {
    const int at = i + 16 * static_cast<int>(threadIdx.x);
    if (at < S::kWeightBytes)
      attention::copyAsync(attention::sharedAddress(to + at), from + at, true);
  }
  attention::commitCopies();
}

template <class S>
struct Product {
  using Sum = typename S::Sum;
  Sum sums[S::kTiles][S::kColumns / 8][4];

  __device__ __forceinline__ Product(const char* strip, const char* weights) {
#pragma unroll
    for (int t = 0; t < S::kTiles; ++t)
#pragma unroll
      for (int j = 0; j < S::kColumns / 8; ++j)
#pragma unroll
        for (int i = 0; i < 4; ++i) sums[t][j][i] = 0;
    const int lane = threadIdx.x % 32, row = lane / 4, quad = lane % 4;
    const int shift = row * S::kPlaceBytes & 3;
    const char* const first = strip + shift / S::kUnit * S::kCopyBytes - shift +
                              S::tileRow(S::firstTile()) * S::Y::kStride * S::kPitch +
                              (S::tileColumn(S::firstTile()) + row) * S::kPlaceBytes;
    const unsigned* const own = reinterpret_cast<const unsigned*>(weights) + lane * 4;
#pragma unroll
    for (int step = 0; step < S::kSteps; ++step) {
      unsigned a[S::kTiles][4];
#pragma unroll
      for (int half = 0; half < 2; ++half) load(a, first, 2 * step + half, quad);
#pragma unroll
      for (int pair = 0; pair < S::kColumns / 16; ++pair) {
        const auto b = loadVector<4>(own + (step * (S::kColumns / 16) + pair) * 128);
#pragma unroll
        for (int t = 0; t < S::kTiles; ++t)
#pragma unroll
          for (int j = 0; j < 2; ++j)
            attention::multiply(typename S::A{}, typename S::B{}, sums[t][pair * 2 + j], a[t],
                                b.v[2 * j], b.v[2 * j + 1]);
      }
    }
  }

  // Four words of k, one for each lane of a quad, of all tiles: half of a step.
  __device__ __forceinline__ static void load(unsigned (&a)[S::kTiles][4], const char* first,
                                              int piece, int quad) {
    const int half = piece % 2, word = 4 * piece;
    const bool isAny = word < S::kWords;
    // Words of a run lie one after the other; the next run, in the next row of the strip.
    int offset = S::wordOffset(word) + 4 * quad;
#pragma unroll
    for (int i = 1; i < 4; ++i)
      if (S::beginsRun(word + i)) offset += quad >= i ? S::kToNextRun : 0;
    // Of floats, what lies beside a window may be no number, which times zero would be no zero.
    const bool isWhole =
        sizeof(typename S::A) == 1 || (S::wordBits(word) & S::wordBits(word + 1) &
                                       S::wordBits(word + 2) & S::wordBits(word + 3)) == ~0u;
    const unsigned kept = isWhole     ? ~0u
                          : quad == 0 ? S::wordBits(word)
                          : quad == 1 ? S::wordBits(word + 1)
                          : quad == 2 ? S::wordBits(word + 2)
                                      : S::wordBits(word + 3);
#pragma unroll
    for (int t = 0; t < S::kTiles; ++t)
#pragma unroll
      for (int lower = 0; lower < 2; ++lower)
        a[t][half * 2 + lower] =
            isAny ? *reinterpret_cast<const unsigned*>(first + offset + S::tileOffset(t) +
                                                       lower * 8 * S::kPlaceBytes) &
                        kept
                  : 0;
  }

  // Gives all results inside the image to store(place, column, values), kWidth neighbours at a
  // time, with the term of their columns added.
  template <int kWidth, int kOutputs, class Term, class Store>
  __device__ __forceinline__ void finish(const StripPlace<S>& place, const ImageSizes& sizes,
                                         const Term& term, const Store& store) const {
    if (place.y + S::kRows <= sizes.outHeight && place.x + S::kBreadth <= sizes.outBreadth)
      finishPlaces<kWidth, kOutputs, true>(place, sizes, term, store);
    else
      finishPlaces<kWidth, kOutputs, false>(place, sizes, term, store);
  }
  // A lane has neighbouring columns because the weights lie so: kWidth of 4 * kWidth at a time.
  template <int kWidth, int kOutputs, bool kIsInside, class Term, class Store>
  __device__ __forceinline__ void finishPlaces(const StripPlace<S>& place, const ImageSizes& sizes,
                                               const Term& term, const Store& store) const {
    const int lane = threadIdx.x % 32;
    const Index before = place.image * sizes.outHeight;
#pragma unroll
    for (int part = 0; part < S::kColumns / 4; part += kWidth) {
      const Index column = place.column + part * 4 + lane % 4 * kWidth;
      if (kOutputs % S::kColumns != 0 && column >= kOutputs) continue;
#pragma unroll
      for (int i = 0; i < 2 * S::kTiles; ++i) {
        const int tile = S::firstTile() + i / 2;
        const Index y = place.y + S::tileRow(tile),
                    x = place.x + S::tileColumn(tile) + lane / 4 + i % 2 * 8;
        if (!kIsInside && (y >= sizes.outHeight || x >= sizes.outBreadth)) continue;
        Sum values[kWidth];
#pragma unroll
        for (int v = 0; v < kWidth; ++v)
          values[v] = sums[i / 2][(part + v) / 2][i % 2 * 2 + (part + v) % 2];
        term.addTo(values, column);
        store((before + y) * sizes.outBreadth + x, column, values);
      }
    }
  }
};

}  // namespace stem
