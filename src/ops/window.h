// Sliding windows over the spatial dimensions: the geometry Conv, ConvTranspose and Pool share.
#pragma once

#include <functional>
#include <vector>

#include "ir/graph.h"
#include "ops/walk.h"

namespace camshaft {

// Along one dimension, window o has its tap k at o*stride - padBegin + k*dilation.
struct Window {
  int64_t kernel = 1, stride = 1, dilation = 1, padBegin = 0, padEnd = 0;
  int64_t extent() const { return (kernel - 1) * dilation + 1; }
};

// How many windows fit. Rounding up (ceil) adds the window that hangs over the end, unless it
// would start in the end padding. Throws, naming the node, when none fits.
Dim windowCount(const Node& node, const Window& window, const Dim& size, bool ceil = false);

// The windows of an attribute struct with one entry per spatial dimension in each list.
template <class A>
std::vector<Window> windowsOf(const A& attrs, std::span<const int64_t> kernel) {
  std::vector<Window> windows(kernel.size());
  for (size_t i = 0; i < kernel.size(); ++i)
    windows[i] = {kernel[i], attrs.strides[i], attrs.dilations[i], attrs.padsBegin[i],
                  attrs.padsEnd[i]};
  return windows;
}
// Throws unless every list has one entry per spatial dimension and steps are positive.
void requireWindows(const Node& node, int64_t spatialRank,
                    std::initializer_list<const std::vector<int64_t>*> positive,
                    std::initializer_list<const std::vector<int64_t>*> any);

// Where the dimensions of an image are: [N, C, spatial...] or [N, spatial..., C].
struct ImageLayout {
  bool channelsLast;
  int64_t rank;
  int64_t spatialRank() const { return rank - 2; }
  int64_t channelAxis() const { return channelsLast ? rank - 1 : 1; }
  int64_t spatialAxis(int64_t i) const { return i + (channelsLast ? 1 : 2); }

  template <class T>
  std::vector<T> spatial(const std::vector<T>& perDimension) const {
    auto first = perDimension.begin() + spatialAxis(0);
    return std::vector<T>(first, first + spatialRank());
  }
  template <class T>
  std::vector<T> assemble(T batch, T channels, const std::vector<T>& spatial) const {
    std::vector<T> all{std::move(batch)};
    if (!channelsLast) all.push_back(channels);
    all.insert(all.end(), spatial.begin(), spatial.end());
    if (channelsLast) all.push_back(channels);
    return all;
  }
};

// An image in memory, as strides in elements.
struct ImageView {
  int64_t batch, channels;
  Dims spatial;
  int64_t batchStride, channelStride;
  Dims spatialStrides;
  ImageView(const Dims& dims, bool channelsLast);
};

struct Tap {
  int64_t offset;  // of the element, from the image's first of that batch and channel
  int64_t kernel;  // flat position within the kernel
};

// One window: its position among all windows and the taps that fall inside the image.
struct WindowTaps {
  Dims position;
  std::vector<Tap> taps;
  int64_t tapsWithPadding;  // also those in the padding, but not past it
};
void forEachWindow(const std::vector<Window>& windows, const ImageView& image, const Dims& counts,
                   const std::function<void(const WindowTaps&)>& f);

}  // namespace camshaft
