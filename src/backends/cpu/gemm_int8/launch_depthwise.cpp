// Depthwise convolution of bytes: a few pixels at a time, all their channels, and then what becomes
// of the sums as in a product.
#include <algorithm>

#include "backends/cpu/gemm/partition.h"
#include "backends/cpu/gemm_int8/depthwise.h"
#include "backends/cpu/gemm_int8/launch_conv.h"
#include "backends/cpu/gemm_int8/windows.h"
#include "backends/cpu/operands.h"
#include "backends/cpu/parallel.h"
#include "backends/cpu/simd/vnni.h"

namespace camshaft::cpu::gemm_int8 {

namespace {

// Where the channels of each tap of a few pixels begin, pixels that are not there being the last.
// Taps that fill up are multiplied by zero, and read what is there also where the picture is empty.
void findTaps(const TapOrder& order, const Windows& windows, OutputPixel pixel, int64_t pixels,
              const uint8_t** taps) {
  const Window first = windows.at(pixel);
  std::fill(taps, taps + order.count * kDepthwisePixels, windows.outside());
  if (pixels == kDepthwisePixels && windows.areInside(pixel, pixels)) {
    for (int64_t ky = 0; ky < order.height; ++ky)
      for (int64_t kx = 0; kx < order.width; ++kx) {
        const uint8_t* at = windows.tap(first, ky, kx);
        const uint8_t** to = taps + order.at(ky, kx) * kDepthwisePixels;
        for (int64_t i = 0; i < kDepthwisePixels; ++i) to[i] = at + i * windows.pixelStep();
      }
    return;
  }
  for (int64_t i = 0; i < kDepthwisePixels; ++i) {
    const Window window = windows.at(pixel);
    if (i + 1 < pixels) pixel = windows.next(pixel);
    for (int64_t ky = 0; ky < order.height; ++ky)
      for (int64_t kx = 0; kx < order.width; ++kx)
        taps[order.at(ky, kx) * kDepthwisePixels + i] = windows.tap(window, ky, kx);
  }
}

auto sumDepthwiseFor(const Layout& layout) {
  switch (layout.kind) {
    case Layout::Kind::kPairs:
      return sumDepthwiseWithMixedDots;
    case Layout::Kind::kPanels:
      return sumDepthwiseWithDots;
    case Layout::Kind::kTaps:
      return vnniInUse() == Vnni::kAvx512 ? sumDepthwiseWithVnni
             : vnniInUse() == Vnni::kAvx  ? sumDepthwiseWithAvxVnni
                                          : sumDepthwiseWithAvx2;
    case Layout::Kind::kQuads:
      break;
  }
  return sumDepthwise;
}

}  // namespace

bool fitsDepthwise(const void* opaque, const LaunchArgs& args) {
  const auto& state = *static_cast<const ConvState*>(opaque);
  const ConvParams& p = state.params;
  const ProductParams& product = state.product.params;
  if (p.groups != 1 || product.k != p.kernel[0] * p.kernel[1] || product.n != p.channels ||
      product.k > kMostDepthwiseTaps || p.channels > Windows::kMostChannels ||
      product.zerosInput >= 0)
    return false;
  const Layout& layout = layoutFor(product);
  const int64_t bytes =
      paddedColumns(product.n) / kBlockColumns * depthwiseBlockBytes(layout, TapOrder(layout, p));
  return fitsFinish(state.product, args) && args.inputs[1].count() == bytes && fitsWindows(p, args);
}

void launchDepthwise(const void* opaque, const LaunchArgs& args) {
  const auto& state = *static_cast<const ConvState*>(opaque);
  const ConvParams& params = state.params;
  const ProductState& product = state.product;
  const TensorArg &x = args.inputs[0], &y = args.outputs[0];
  const int64_t m = Picture(y).pixels(), taps = product.params.k, n = product.params.n;
  if (m == 0 || n == 0) return;
  const uint8_t zero = zeroPointOf(product.params, args);
  const bool isSigned = product.params.isSigned != 0;
  const Windows windows(params, x, y, zero);
  const Layout& layout = layoutFor(product.params);
  const LaunchedFinish finish(product, args, m, depthwiseValue(layout, isSigned, zero));
  const auto* filters = args.inputs[1].as<const std::byte>();
  const TapOrder order(layout, params);
  const int64_t blockBytes = depthwiseBlockBytes(layout, order);
  const auto sum = sumDepthwiseFor(layout);
  const double work = static_cast<double>(kDepthwisePixels * n) * static_cast<double>(taps + 4) / 8;
  parallelItems(args.threads, ceilDiv(m, kDepthwisePixels), work, [&](int64_t begin, int64_t end) {
    const uint8_t* at[kMostDepthwiseTaps * kDepthwisePixels];
    alignas(64) int32_t sums[kDepthwisePixels * kBlockColumns];
    for (int64_t group = begin; group < end; ++group) {
      const int64_t pixel = group * kDepthwisePixels;
      const int64_t pixels = std::min(kDepthwisePixels, m - pixel);
      OutputPixel each = windows.outputPixel(pixel);
      findTaps(order, windows, each, pixels, at);
      DepthwiseBlock block{.taps = at,
                           .tapCount = order.count,
                           .columnTaps = order.columnTaps,
                           .isSigned = isSigned,
                           .sums = sums};
      for (int64_t i = 0; i < kDepthwisePixels; ++i, each = windows.next(each))
        if (i % 4 == 0)
          block.shares[i / 4] =
              order.columnTaps && i + 4 <= pixels && windows.areNeighbours(each.column, 4);
      for (int64_t channel = 0; channel < n; channel += kBlockColumns) {
        const int64_t channels = std::min(kBlockColumns, n - channel);
        block.channel = channel;
        block.channels = channels;
        block.filters = filters + channel / kBlockColumns * blockBytes;
        sum(block);
        finishSums(finish.get(), {sums, nullptr, pixel, channel, pixels, channels});
      }
    }
  });
}

}  // namespace camshaft::cpu::gemm_int8
