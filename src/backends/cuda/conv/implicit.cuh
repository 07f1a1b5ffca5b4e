// Rows of the matrix that a convolution multiplies its weights with: a row per place of the result,
// channels last. Follows gemm/mma.cuh.
namespace mma {

// Sizes of the image and the result; along y all 1 for images of one dimension.
struct ImageSizes {
  Index height, breadth, outHeight, outBreadth;
};

// The windows along both dimensions, the channels of a group, those that k counts through before it
// goes on to the next tap, and those of a pixel. Pixels, and the channels of a group, come in whole
// parts of `part` bytes. Whether padding is a zero point instead of zeros.
template <class Y, class X, int channels, int block, int pixel, int part, bool fills>
struct ImageGeometry {
  static constexpr int kKernelY = Y::kKernel, kKernelX = X::kKernel, kStrideY = Y::kStride,
                       kStrideX = X::kStride, kDilationY = Y::kDilation, kDilationX = X::kDilation,
                       kPadY = Y::kPad, kPadX = X::kPad;
  static constexpr int kChannels = channels, kBlock = block, kPixel = pixel, kPart = part;
  static constexpr bool kFills = fills;
};

// Where a row's window begins, maybe outside the image. Rows beyond the last are far outside.
struct WindowPlace {
  Index at;  // of the first channel's element
  int y, x;
};
template <class G>
__device__ __forceinline__ WindowPlace windowPlace(const ImageSizes& sizes, Index row, Index rows) {
  constexpr int kFarOutside = -(1 << 29);
  if (row >= rows) return {0, kFarOutside, 0};
  const Index across = row % sizes.outBreadth, rest = row / sizes.outBreadth;
  const Index down = rest % sizes.outHeight, n = rest / sizes.outHeight;
  const int y = static_cast<int>(down) * G::kStrideY - G::kPadY;
  const int x = static_cast<int>(across) * G::kStrideX - G::kPadX;
  return {((n * sizes.height + y) * sizes.breadth + x) * G::kPixel, y, x};
}

// kBytes, or as many zeros; those that neighbouring windows read again are kept in L1.
template <int kBytes, bool kIsKept>
__device__ __forceinline__ void copyPixels(SharedAddress to, const void* from, bool isThere) {
#ifdef CAMSHAFT_EMULATOR
  for (int i = 0; i < kBytes; ++i) to[i] = isThere ? static_cast<const char*>(from)[i] : 0;
#elif __CUDA_ARCH__ >= 800
  if constexpr (kBytes == 16 && !kIsKept)
    copyAsync(to, from, isThere);
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(to), "l"(from), "n"(kBytes),
                 "r"(isThere ? kBytes : 0)
                 : "memory");
#else
  if constexpr (kBytes == 16) return copyAsync(to, from, isThere);
#pragma unroll
  for (int i = 0; i < kBytes; i += 4)
    asm volatile("st.shared.b32 [%0], %1;" ::"r"(to + i),
                 "r"(isThere ? static_cast<const unsigned*>(from)[i / 4] : 0u)
                 : "memory");
#endif
}

// kBytes of padding, of four bytes each time.
template <int kBytes>
__device__ __forceinline__ void storePadding(SharedAddress to, unsigned word) {
#pragma unroll
  for (int i = 0; i < kBytes; i += 4) {
#ifdef CAMSHAFT_EMULATOR
    for (int byte = 0; byte < 4; ++byte) to[i + byte] = static_cast<char>(word >> (8 * byte));
#else
    asm volatile("st.shared.b32 [%0], %1;" ::"r"(to + i), "r"(word) : "memory");
#endif
  }
}

// k counts through (block of channels, kernel y, kernel x, channel of the block), so that windows
// overlap soon. A block that is all channels of a group goes on to whole chunks: its weights are
// zeros there.
template <class T, class G>
struct ImageSource {
  static constexpr int kOwn = T::kRows / T::kRowsPerPass, kTaps = G::kKernelX * G::kKernelY;
  static constexpr int kBlocks = G::kChannels > G::kBlock ? G::kChannels / G::kBlock : 1;
  static constexpr int kPart = G::kPart / sizeof(typename T::A);  // elements
  const typename T::A* image;                                     // at the block of channels
  ImageSizes sizes;
  unsigned padding;  // four bytes of it, or two elements
  WindowPlace places[kOwn];
  int channel, tapX, tapY, blocks;  // blocks that are left

  __device__ __forceinline__ ImageSource(const typename T::A* image, const ImageSizes& sizes,
                                         unsigned padding, Index firstRow, Index rows,
                                         int firstStep)
      : image(image), sizes(sizes), padding(padding) {
#pragma unroll
    for (int i = 0; i < kOwn; ++i) places[i] = windowPlace<G>(sizes, firstRow + T::ownRow(i), rows);
    const int k = firstStep * T::kDepth + T::ownChunk() * T::kChunk, tap = k / G::kBlock;
    channel = k % G::kBlock;
    tapX = tap % G::kKernelX;
    tapY = tap / G::kKernelX % G::kKernelY;
    blocks = kBlocks - tap / kTaps;
    this->image += tap / kTaps * G::kBlock;
  }

  __device__ __forceinline__ void copy(SharedAddress to) {
    const int y = tapY * G::kDilationY, x = tapX * G::kDilationX;
    const Index offset = (y * sizes.breadth + x) * G::kPixel + channel;
#pragma unroll
    for (int i = 0; i < kOwn; ++i) {
      const WindowPlace& place = places[i];
      const bool isInside =
          blocks > 0 && static_cast<unsigned>(place.y + y) < static_cast<unsigned>(sizes.height) &&
          static_cast<unsigned>(place.x + x) < static_cast<unsigned>(sizes.breadth);
      const SharedAddress chunk = to + T::place(T::ownRow(i), T::ownChunk());
#pragma unroll
      for (int part = 0; part < T::kChunk; part += kPart) {
        const SharedAddress at = chunk + part * static_cast<int>(sizeof(typename T::A));
        const bool isThere =
            isInside && (G::kBlock <= G::kChannels || channel + part < G::kChannels);
        if (G::kFills && !isInside)
          storePadding<G::kPart>(at, padding);
        else
          copyPixels<G::kPart, (kTaps > 1)>(
              at, isThere ? image + (place.at + offset + part) : image, isThere);
      }
    }
    channel += T::kDepth;
    while (channel >= G::kBlock) {
      channel -= G::kBlock;
      if (++tapX < G::kKernelX) continue;
      tapX = 0;
      if (++tapY < G::kKernelY) continue;
      tapY = 0;
      image += G::kBlock;
      --blocks;
    }
  }
};

// For few channels: k counts through (kernel y, run), a run being the elements of a row of the
// window, which are neighbours in memory, and zeros up to a whole chunk.
template <class T, class G>
struct RunSource {
  using Element = typename T::A;
  static constexpr int kOwn = T::kRows / T::kRowsPerPass;
  static constexpr int kElements = G::kKernelX * G::kChannels;
  static constexpr int kRun = (kElements + T::kChunk - 1) / T::kChunk * T::kChunk;
  const Element* image;
  ImageSizes sizes;
  unsigned padding;
  WindowPlace places[kOwn];
  int first, tapY;  // element of the run

  __device__ __forceinline__ RunSource(const Element* image, const ImageSizes& sizes,
                                       unsigned padding, Index firstRow, Index rows, int firstStep)
      : image(image), sizes(sizes), padding(padding) {
#pragma unroll
    for (int i = 0; i < kOwn; ++i) places[i] = windowPlace<G>(sizes, firstRow + T::ownRow(i), rows);
    const int k = firstStep * T::kDepth + T::ownChunk() * T::kChunk;
    first = k % kRun;
    tapY = k / kRun;
  }

  __device__ __forceinline__ void copy(SharedAddress to) {
    const int y = tapY * G::kDilationY;
    const Index offset = y * sizes.breadth * G::kPixel + first;
#pragma unroll
    for (int i = 0; i < kOwn; ++i) {
      const WindowPlace& place = places[i];
      const bool isRow = tapY < G::kKernelY &&
                         static_cast<unsigned>(place.y + y) < static_cast<unsigned>(sizes.height);
      const int begin = place.x * G::kPixel + first,
                end = static_cast<int>(sizes.breadth) * G::kPixel;
      Vector<Element, T::kChunk> chunk{};
#pragma unroll
      for (int e = 0; e < T::kChunk; ++e) {
        if constexpr (G::kFills) chunk.v[e] = static_cast<Element>(padding);
        if (isRow && first + e < kElements && begin + e >= 0 && begin + e < end)
          chunk.v[e] = image[place.at + offset + e];
      }
      storeChunk(to + T::place(T::ownRow(i), T::ownChunk()), &chunk);
    }
    first += T::kDepth;
    while (first >= kRun) first -= kRun, ++tapY;
  }
};

}  // namespace mma
