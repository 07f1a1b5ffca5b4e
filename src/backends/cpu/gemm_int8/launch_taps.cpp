// Convolutions of bytes whose output channels see few of the input's: a few pixels at a time, all
// their channels, and then what becomes of the sums as in a product.
#include <algorithm>

#include "backends/cpu/gemm/partition.h"
#include "backends/cpu/gemm_int8/depthwise.h"
#include "backends/cpu/gemm_int8/groups.h"
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

// A convolution as it was launched.
struct Call {
  const ConvState& state;
  const LaunchArgs& args;
  const ConvParams& params = state.params;
  const ProductParams& product = state.product.params;
  const Layout& layout = layoutFor(product);
  const uint8_t zero = zeroPointOf(product, args);
  const bool isSigned = product.isSigned != 0;
  const Windows windows{params, args.inputs[0], args.outputs[0], zero};
};

// By blocks of channels of a few pixels: blocksOf(taps, pixel, pixels, sums) returns what sums up
// such a block, sum(channel, channels). `work` is that of all channels of a pixel.
template <class BlocksOf>
void convolveByTaps(const Call& call, const TapOrder& order, double work, BlocksOf blocksOf) {
  const int64_t m = Picture(call.args.outputs[0]).pixels(), n = call.product.n;
  if (m == 0 || n == 0) return;
  const LaunchedFinish finish(call.state.product, call.args, m,
                              depthwiseValue(call.layout, call.isSigned, call.zero));
  const auto sumPixels = [&](int64_t begin, int64_t end) {
    const uint8_t* taps[kMostDepthwiseTaps * kDepthwisePixels];
    alignas(64) int32_t sums[kDepthwisePixels * kBlockColumns];
    for (int64_t group = begin; group < end; ++group) {
      const int64_t pixel = group * kDepthwisePixels;
      const int64_t pixels = std::min(kDepthwisePixels, m - pixel);
      const OutputPixel first = call.windows.outputPixel(pixel);
      findTaps(order, call.windows, first, pixels, taps);
      auto sum = blocksOf(taps, first, pixels, sums);
      for (int64_t channel = 0; channel < n; channel += kBlockColumns) {
        const int64_t channels = std::min(kBlockColumns, n - channel);
        sum(channel, channels);
        finishSums(finish.get(), {sums, nullptr, pixel, channel, pixels, channels});
      }
    }
  };
  parallelItems(call.args.threads, ceilDiv(m, kDepthwisePixels),
                static_cast<double>(kDepthwisePixels) * work, sumPixels);
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

auto sumGroupsFor(const Layout& layout) {
  if (layout.kind == Layout::Kind::kPairs) return sumGroupsWithMixedDots;
  if (layout.kind == Layout::Kind::kPanels) return sumGroupsWithDots;
  return vnniInUse() == Vnni::kAvx512 ? sumGroupsWithVnni
         : vnniInUse() == Vnni::kAvx  ? sumGroupsWithAvxVnni
                                      : sumGroupsWithAvx2;
}

// Whether operands have the sizes that blocks of so many bytes of filters suit.
bool fitsTaps(const ConvState& state, const LaunchArgs& args, int64_t blockBytes) {
  const ConvParams& p = state.params;
  const ProductParams& product = state.product.params;
  return p.kernel[0] * p.kernel[1] <= kMostDepthwiseTaps && p.channels <= kMostTapChannels &&
         product.zerosInput < 0 && fitsFinish(state.product, args) &&
         args.inputs[1].count() == paddedColumns(product.n) / kBlockColumns * blockBytes &&
         fitsWindows(p, args);
}

}  // namespace

bool fitsDepthwise(const void* opaque, const LaunchArgs& args) {
  const auto& state = *static_cast<const ConvState*>(opaque);
  const ConvParams& p = state.params;
  const ProductParams& product = state.product.params;
  if (p.groups != 1 || product.k != p.kernel[0] * p.kernel[1] || product.n != p.channels)
    return false;
  const Layout& layout = layoutFor(product);
  return fitsTaps(state, args, depthwiseBlockBytes(layout, TapOrder(layout, p)));
}

void launchDepthwise(const void* opaque, const LaunchArgs& args) {
  const Call call{*static_cast<const ConvState*>(opaque), args};
  const auto* filters = args.inputs[1].as<const std::byte>();
  const TapOrder order(call.layout, call.params);
  const int64_t blockBytes = depthwiseBlockBytes(call.layout, order);
  const auto sumBlock = sumDepthwiseFor(call.layout);
  const auto blocksOf = [&](const uint8_t* const* taps, OutputPixel each, int64_t pixels,
                            int32_t* sums) {
    DepthwiseBlock block{.taps = taps,
                         .tapCount = order.count,
                         .columnTaps = order.columnTaps,
                         .isSigned = call.isSigned,
                         .sums = sums};
    for (int64_t i = 0; i < kDepthwisePixels; ++i, each = call.windows.next(each))
      if (i % 4 == 0)
        block.shares[i / 4] =
            order.columnTaps && i + 4 <= pixels && call.windows.areNeighbours(each.column, 4);
    return [&, block](int64_t channel, int64_t channels) mutable {
      block.channel = channel;
      block.channels = channels;
      block.filters = filters + channel / kBlockColumns * blockBytes;
      sumBlock(block);
    };
  };
  const auto n = static_cast<double>(call.product.n), taps = static_cast<double>(call.product.k);
  convolveByTaps(call, order, n * (taps + 4) / 8, blocksOf);
}

bool fitsGroups(const void* opaque, const LaunchArgs& args) {
  const auto& state = *static_cast<const ConvState*>(opaque);
  const ConvParams& p = state.params;
  const ProductParams& product = state.product.params;
  return product.k == p.kernel[0] * lineBytes(p) && p.channels <= kMostTapChannels &&
         groupsSupported(layoutFor(product), p, product.n) &&
         fitsTaps(state, args, groupBlockBytes(p));
}

void launchGroups(const void* opaque, const LaunchArgs& args) {
  const Call call{*static_cast<const ConvState*>(opaque), args};
  const auto* filters = args.inputs[1].as<const int8_t>();
  const TapOrder order(call.params);
  const int64_t blockBytes = groupBlockBytes(call.params);
  const auto sumBlock = sumGroupsFor(call.layout);
  const GroupBegins begins(call.params, call.product.n);
  const auto blocksOf = [&](const uint8_t* const* taps, const OutputPixel&, int64_t,
                            int32_t* sums) {
    GroupBlock block{.taps = taps,
                     .tapCount = order.count,
                     .quads = call.params.channels / call.params.groups / 4,
                     .isSigned = call.isSigned,
                     .sums = sums};
    return [&, block](int64_t channel, int64_t) mutable {
      begins.find(channel, block.firsts);
      block.filters = filters + channel / kBlockColumns * blockBytes;
      sumBlock(block);
    };
  };
  const auto n = static_cast<double>(call.product.n), k = static_cast<double>(call.product.k);
  convolveByTaps(call, order, n * (k + 16) / 32, blocksOf);
}

}  // namespace camshaft::cpu::gemm_int8
