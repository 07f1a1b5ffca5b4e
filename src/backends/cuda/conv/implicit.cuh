// Rows of the matrix that a convolution multiplies its weights with: a row per place of the result,
// channels last. Follows gemm/mma.cuh.
namespace mma {

// Sizes of the image and the result; along y all 1 for images of one dimension.
struct ImageSizes {
  Index height, breadth, outHeight, outBreadth;
};

// The windows along both dimensions, the channels of a group, those that k counts through before it
// goes on to the next tap, and those of a pixel.
template <class Y, class X, int channels, int block, int pixel>
struct ImageGeometry {
  static constexpr int kKernelY = Y::kKernel, kKernelX = X::kKernel, kStrideY = Y::kStride,
                       kStrideX = X::kStride, kDilationY = Y::kDilation, kDilationX = X::kDilation,
                       kPadY = Y::kPad, kPadX = X::kPad;
  static constexpr int kChannels = channels, kBlock = block, kPixel = pixel;
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

// 16 bytes, or zeros, that neighbouring windows read again: kept in L1.
template <bool kIsKept>
__device__ __forceinline__ void copyPixels(SharedAddress to, const void* from, bool isThere) {
#ifndef CAMSHAFT_EMULATOR
  if constexpr (kIsKept) {
    asm volatile("cp.async.ca.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from),
                 "r"(isThere ? 16 : 0)
                 : "memory");
    return;
  }
#endif
  copyAsync(to, from, isThere);
}

// k counts through (block of channels, kernel y, kernel x, channel of the block), so that windows
// overlap soon; channels of a group come in whole chunks.
template <class T, class G>
struct ImageSource {
  static constexpr int kOwn = T::kRows / T::kRowsPerPass, kTaps = G::kKernelX * G::kKernelY;
  const typename T::Element* image;  // at the block of channels
  ImageSizes sizes;
  WindowPlace places[kOwn];
  int channel, tapX, tapY, blocks;  // blocks that are left

  __device__ __forceinline__ ImageSource(const typename T::Element* image, const ImageSizes& sizes,
                                         Index firstRow, Index rows, int firstStep)
      : image(image), sizes(sizes) {
#pragma unroll
    for (int i = 0; i < kOwn; ++i) places[i] = windowPlace<G>(sizes, firstRow + T::ownRow(i), rows);
    const int k = firstStep * T::kDepth + T::ownChunk() * 8, tap = k / G::kBlock;
    channel = k % G::kBlock;
    tapX = tap % G::kKernelX;
    tapY = tap / G::kKernelX % G::kKernelY;
    blocks = G::kChannels / G::kBlock - tap / kTaps;
    this->image += tap / kTaps * G::kBlock;
  }

  __device__ __forceinline__ void copy(SharedAddress to) {
    const int y = tapY * G::kDilationY, x = tapX * G::kDilationX;
    const Index offset = (y * sizes.breadth + x) * G::kPixel + channel;
#pragma unroll
    for (int i = 0; i < kOwn; ++i) {
      const WindowPlace& place = places[i];
      const bool isThere =
          blocks > 0 && static_cast<unsigned>(place.y + y) < static_cast<unsigned>(sizes.height) &&
          static_cast<unsigned>(place.x + x) < static_cast<unsigned>(sizes.breadth);
      copyPixels<(kTaps > 1)>(to + T::place(T::ownRow(i), T::ownChunk()),
                              isThere ? image + (place.at + offset) : image, isThere);
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
  static constexpr int kOwn = T::kRows / T::kRowsPerPass;
  static constexpr int kElements = G::kKernelX * G::kChannels, kRun = (kElements + 7) / 8 * 8;
  const typename T::Element* image;
  ImageSizes sizes;
  WindowPlace places[kOwn];
  int first, tapY;  // element of the run

  __device__ __forceinline__ RunSource(const typename T::Element* image, const ImageSizes& sizes,
                                       Index firstRow, Index rows, int firstStep)
      : image(image), sizes(sizes) {
#pragma unroll
    for (int i = 0; i < kOwn; ++i) places[i] = windowPlace<G>(sizes, firstRow + T::ownRow(i), rows);
    const int k = firstStep * T::kDepth + T::ownChunk() * 8;
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
      Vector<typename T::Element, 8> chunk{};
#pragma unroll
      for (int e = 0; e < 8; ++e)
        if (isRow && first + e < kElements && begin + e >= 0 && begin + e < end)
          chunk.v[e] = image[place.at + offset + e];
      storeChunk(to + T::place(T::ownRow(i), T::ownChunk()), &chunk);
    }
    first += T::kDepth;
    while (first >= kRun) first -= kRun, ++tapY;
  }
};

}  // namespace mma

// Adds the bias, which may be null, to the products of a tile of pixels and of kOutputs channels,
// those of a group, and stores them: store(pixel, channel, values).
template <int kWidth, int kOutputs, class Tile, class B, class Store>
__device__ __forceinline__ void storePixels(const mma::Product<Tile>& product, char* memory,
                                            const mma::TilePlace<Tile>& tile, Index rows, B bias,
                                            const Store& store) {
  product.template finish<kWidth>(memory, tile, rows, kOutputs,
                                  [&](Index pixel, Index column, float (&values)[kWidth]) {
                                    const Index c = tile.item * kOutputs + column;
                                    if constexpr (!std::is_same_v<B, decltype(nullptr)>) {
                                      const auto start = loadVector<kWidth>(bias + c);
#pragma unroll
                                      for (int v = 0; v < kWidth; ++v)
                                        values[v] += toCompute(start.v[v]);
                                    }
                                    store(pixel, c, values);
                                  });
}
