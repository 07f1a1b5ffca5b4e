#include "backends/cuda/gemm/hopper/images.h"

#include <limits>

#include "support/text.h"

namespace camshaft::cuda {
namespace {

constexpr int64_t kStepBytes = 128;  // of a stage along K

int64_t roundUp(int64_t value, int64_t unit) { return (value + unit - 1) / unit * unit; }

int64_t reach(const HopperWindow& window) { return int64_t{window.kernel - 1} * window.dilation; }

int64_t windowsAlong(const HopperWindow& window, int64_t size) {
  const int64_t room = size + window.padBegin + window.padEnd - reach(window);
  return room < 1 ? 0 : (room - 1) / window.stride + 1;
}

const char* whyNot(const HopperWindow& window) {
  constexpr int kMost = 1 << 14;  // whatever a file holds: sums of a few stay small
  constexpr int64_t kMostReach = 255, kLeastCorner = -128, kMostCorner = 127, kMostStride = 8;
  const auto isOneTo = [](int value, int64_t most) { return value >= 1 && value <= most; };
  const auto isSmall = [](int value) { return value >= -kMost && value <= kMost; };
  if (!isOneTo(window.kernel, kMost) || !isOneTo(window.dilation, kMost) ||
      reach(window) > kMostReach)
    return "reaches over 255 pixels at most";
  if (!isOneTo(window.stride, kMostStride)) return "takes strides of up to 8";
  const auto isCorner = [](int64_t value) { return value >= kLeastCorner && value <= kMostCorner; };
  if (!isSmall(window.padBegin) || !isSmall(window.padEnd) || !isCorner(-window.padBegin) ||
      !isCorner(window.padEnd - reach(window)))
    return "begins and ends within 128 pixels of the image's borders";
  return nullptr;
}

}  // namespace

// Narrow blocks leave fewer zeros behind the last channels, and have more boxes in a stage.
ChannelBlocks blocksOf(const HopperWindows& windows, int64_t channels, DataType type) {
  constexpr int kWide = 128, kHalf = 64, kNarrow = 32;  // the swizzles
  const int64_t elementBytes = bitsOf(type) / 8, bytes = channels * elementBytes;
  const int64_t taps = int64_t{windows.y.kernel} * windows.x.kernel;
  const auto depth = [&](int block) { return roundUp(taps * roundUp(bytes, block), kStepBytes); };
  const int block = bytes <= kNarrow ? kNarrow : depth(kHalf) < depth(kWide) ? kHalf : kWide;
  return {block, (bytes + block - 1) / block, block / elementBytes};
}

int64_t depthOf(const HopperWindows& windows, int64_t channels, DataType type) {
  const ChannelBlocks blocks = blocksOf(windows, channels, type);
  return int64_t{windows.y.kernel} * windows.x.kernel * blocks.number * blocks.elements;
}

int64_t outHeight(const HopperImages& images) {
  return windowsAlong(images.windows.y, images.height);
}
int64_t outBreadth(const HopperImages& images) {
  return windowsAlong(images.windows.x, images.breadth);
}

BoxedImages boxed(const HopperConfig& config, const HopperImages& images, DataType type) {
  const int64_t bytes = bitsOf(type) / 8;
  const ChannelBlocks blocks = blocksOf(images.windows, images.channels, type);
  BoxedImages boxed;
  const int64_t dims[] = {images.channels, images.breadth, images.height, images.count};
  int64_t stride = bytes;
  for (int i = 0; i < 4; ++i) {
    boxed.dims[i] = dims[i];
    if (i > 0) boxed.strides[i - 1] = stride;
    stride *= dims[i];
  }
  const HopperWindow* const windows[] = {&images.windows.x, &images.windows.y};
  for (int i = 0; i < 2; ++i) {
    boxed.lower[i] = -windows[i]->padBegin;
    boxed.upper[i] = static_cast<int32_t>(windows[i]->padEnd - reach(*windows[i]));
  }
  boxed.channels = static_cast<uint32_t>(blocks.elements);
  boxed.pixels = static_cast<uint32_t>(config.tileM / config.shareA);
  boxed.steps[0] = boxed.steps[3] = 1;
  boxed.steps[1] = images.windows.x.stride;
  boxed.steps[2] = images.windows.y.stride;
  boxed.swizzleBytes = blocks.bytes;
  return boxed;
}

std::string entryOf(const HopperConfig& config, const HopperWindows& windows) {
  return str("conv_hopper_", windows.y.kernel, "x", windows.x.kernel, "_", toString(config));
}

const char* whyNot(const HopperWindows& windows) {
  if (const char* why = whyNot(windows.y)) return why;
  return whyNot(windows.x);
}

const char* whyNot(const HopperImages& images, DataType type) {
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max() / 2, kPitchBytes = 16;
  if (const char* why = whyNot(images.windows)) return why;
  for (int64_t size : {images.count, images.height, images.breadth, images.channels})
    if (size < 1 || size > kMost) return "needs images of sizes that 32 bits can count";
  const int64_t bytes = images.channels * bitsOf(type) / 8;
  if (bytes % kPitchBytes != 0) return "needs pixels that are a multiple of 16 bytes";
  // Strides of dimensions are less than 2^40.
  constexpr int64_t kMostStride = (int64_t{1} << 40) - 1;
  if (images.breadth > kMostStride / bytes ||
      images.height > kMostStride / (bytes * images.breadth))
    return "needs images of less than a terabyte";
  if (outHeight(images) < 1 || outBreadth(images) < 1) return "has no window in the image";
  return nullptr;
}

}  // namespace camshaft::cuda
