// Rows of A that are windows of images with channels last: how a tensor map in im2col mode walks
// them. Both halves of the backend.
//
// A row is a place of the result, counted through (image, y, x). K counts through (tap, channel of
// the tap); the channels of a tap come in blocks, of which a box of the tensor map has one for some
// rows, and are rounded up to whole blocks. What is outside of an image is zeros.
#pragma once

#include <cstdint>
#include <string>

#include "backends/cuda/gemm/hopper/config.h"
#include "support/data_type.h"

namespace camshaft::cuda {

// Along one dimension, window o has its tap k at o*stride - padBegin + k*dilation.
struct HopperWindow {
  int32_t kernel = 1, stride = 1, dilation = 1, padBegin = 0, padEnd = 0;
};
struct HopperWindows {
  HopperWindow y, x;
};

struct HopperImages {
  int64_t count = 0;  // none: A is a matrix
  int64_t height = 1, breadth = 1, channels = 1;
  HopperWindows windows;
};

// How a tap's channels lie along K.
struct ChannelBlocks {
  int bytes = 128;     // of a block: as wide as the swizzle
  int64_t number = 1;  // of a tap
  int64_t elements = 0;
};
ChannelBlocks blocksOf(const HopperWindows& windows, int64_t channels, DataType type);
// Elements of A's rows.
int64_t depthOf(const HopperWindows& windows, int64_t channels, DataType type);

int64_t outHeight(const HopperImages& images);
int64_t outBreadth(const HopperImages& images);

// What the driver is told of A, innermost dimension first: channels, x, y, images.
struct BoxedImages {
  uint64_t dims[4] = {};
  uint64_t strides[3] = {};              // bytes
  int32_t lower[2] = {}, upper[2] = {};  // corners of where windows begin, x and y
  uint32_t channels = 0, pixels = 0;     // of a box
  uint32_t steps[4] = {};
  int swizzleBytes = 128;
};
BoxedImages boxed(const HopperConfig& config, const HopperImages& images, DataType type);

// What the kernel that multiplies them is called.
std::string entryOf(const HopperConfig& config, const HopperWindows& windows);

// Why copies cannot walk them so; null when they can.
const char* whyNot(const HopperWindows& windows);
const char* whyNot(const HopperImages& images, DataType type);

}  // namespace camshaft::cuda
