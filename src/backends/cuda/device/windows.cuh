// Sliding windows over the spatial dimensions of an image, one Window for each.
template <int kernel, int stride, int dilation, int padBegin>
struct Window {
  static constexpr int kKernel = kernel, kStride = stride, kDilation = dilation, kPad = padBegin;

  // Where tap k of the window at `place` is; maybe outside the image.
  __device__ __forceinline__ static Index tapAt(Index place, int k) {
    return place * kStride - kPad + k * kDilation;
  }
  // The window whose tap k is at `place`, or -1.
  __device__ __forceinline__ static Index windowAt(Index place, int k) {
    const Index reach = place + kPad - k * kDilation;
    return reach < 0 || reach % kStride != 0 ? Index(-1) : reach / kStride;
  }
};

template <class... W>
struct Windows {
  static constexpr int kRank = sizeof...(W);
  static constexpr int kTaps = (1 * ... * W::kKernel);
  static constexpr int kUnroll = kTaps <= 32 ? kTaps : 1;  // of loops over taps, without much code
};

// f(tap, at) for the taps of a window, numbered row by row. locate(window, dimension, k, at[i])
// says where tap k is along a dimension, and whether it counts.
template <int kUnroll, int kDim, int kRank, class Locate, class F>
__device__ __forceinline__ void visitTaps(Windows<>, int tap, Coordinates<kRank>& at, const Locate&,
                                          const F& f) {
  f(tap, at);
}
template <int kUnroll, int kDim, int kRank, class W, class... Rest, class Locate, class F>
__device__ __forceinline__ void visitTaps(Windows<W, Rest...>, int tap, Coordinates<kRank>& at,
                                          const Locate& locate, const F& f) {
  constexpr int kTurns = kUnroll < W::kKernel ? kUnroll : W::kKernel;
#pragma unroll kTurns
  for (int k = 0; k < W::kKernel; ++k) {
    if (!locate(W{}, kDim, k, at.c[kDim])) continue;
    visitTaps<kUnroll, kDim + 1, kRank>(Windows<Rest...>{}, tap * W::kKernel + k, at, locate, f);
  }
}
template <int kUnroll, class... W, class Locate, class F>
__device__ __forceinline__ void visitTaps(Windows<W...> windows, const Locate& locate, const F& f) {
  Coordinates<sizeof...(W)> at;
  visitTaps<kUnroll, 0, sizeof...(W)>(windows, 0, at, locate, f);
}
