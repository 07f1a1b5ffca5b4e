// Run half: where the windows of a convolution lie in a picture of bytes, channels last.
#pragma once

#include <cstring>
#include <memory>
#include <span>

#include "backend/launch.h"
#include "backends/cpu/gemm_int8/launch_product.h"
#include "backends/cpu/gemm_int8/params.h"

namespace camshaft::cpu::gemm_int8 {

struct ConvState {
  ConvParams params;
  ProductState product;
};
std::shared_ptr<const void> loadConv(std::span<const std::byte> bytes);
// Whether input and result are pictures that the parameters can be about.
bool fitsWindows(const ConvParams& params, const LaunchArgs& args);

// Bytes of a line of one filter, and those of it filled up to quads.
inline int64_t lineBytes(const ConvParams& params) {
  return params.kernel[1] * (params.channels / params.groups);
}
inline int64_t filledLineBytes(const ConvParams& params) { return (lineBytes(params) + 3) / 4 * 4; }
// Whether filters may have such lines: windows are lines of the picture then, and what lies behind
// these is multiplied by zeros.
bool canFillLines(const ConvParams& params);

// [N, H, W] of a tensor [N, spatial..., C].
struct Picture {
  int64_t batch, height, width;
  Picture(int64_t batch, int64_t height, int64_t width)
      : batch(batch), height(height), width(width) {}
  explicit Picture(const TensorArg& x)
      : Picture(x.dims[0], x.rank == 4 ? x.dims[1] : 1, x.dims[x.rank - 2]) {}
  int64_t pixels() const { return batch * height * width; }
  bool hasRow(int64_t y) const { return static_cast<uint64_t>(y) < static_cast<uint64_t>(height); }
  bool hasColumn(int64_t x) const {
    return static_cast<uint64_t>(x) < static_cast<uint64_t>(width);
  }
};

// Walking from one to the next spares the divisions.
struct OutputPixel {
  int64_t column, line, image;
};

// What one of them sees.
struct Window {
  int64_t top, left;
  const uint8_t* image;
};

class Windows {
 public:
  static constexpr int64_t kMostChannels = kMostTapChannels;  // that a tap outside can read

  Windows(const ConvParams& params, const TensorArg& x, const TensorArg& y, uint8_t zero)
      : params_(params), in_(x), out_(y), data_(x.as<const uint8_t>()) {
    std::memset(zeros_, zero, sizeof zeros_);
  }

  const Picture& in() const { return in_; }
  const uint8_t* data() const { return data_; }
  const uint8_t* end() const { return data_ + in_.pixels() * params_.channels; }
  uint8_t zero() const { return zeros_[0]; }
  const uint8_t* outside() const { return zeros_; }  // what taps outside read

  // Whether each output pixel sees just the input pixel of the same number.
  bool arePixels() const {
    for (int i = 0; i < 2; ++i)
      if (params_.kernel[i] != 1 || params_.strides[i] != 1 || params_.padsBegin[i] != 0)
        return false;
    return in_.height == out_.height && in_.width == out_.width;
  }

  OutputPixel outputPixel(int64_t pixel) const {
    const int64_t line = pixel / out_.width;
    return {pixel % out_.width, line % out_.height, line / out_.height};
  }
  // The one behind it.
  OutputPixel next(OutputPixel pixel) const {
    if (++pixel.column < out_.width) return pixel;
    pixel.column = 0;
    if (++pixel.line == out_.height) pixel = {0, 0, pixel.image + 1};
    return pixel;
  }
  Window at(const OutputPixel& pixel) const {
    return {pixel.line * params_.strides[0] - params_.padsBegin[0],
            pixel.column * params_.strides[1] - params_.padsBegin[1],
            data_ + pixel.image * in_.height * in_.width * params_.channels};
  }

  // The channels under one tap of the window, or zeros.
  const uint8_t* tap(const Window& window, int64_t ky, int64_t kx) const {
    const int64_t y = window.top + ky * params_.dilations[0];
    const int64_t x = window.left + kx * params_.dilations[1];
    return in_.hasRow(y) && in_.hasColumn(x) ? window.image + (y * in_.width + x) * params_.channels
                                             : zeros_;
  }

  // From the first tap of a window that lies inside to another one.
  int64_t tapOffset(int64_t ky, int64_t kx) const {
    return (ky * params_.dilations[0] * in_.width + kx * params_.dilations[1]) * params_.channels;
  }
  bool isInside(const Window& window) const {
    return window.top >= 0 && window.left >= 0 &&
           window.top + (params_.kernel[0] - 1) * params_.dilations[0] < in_.height &&
           window.left + (params_.kernel[1] - 1) * params_.dilations[1] < in_.width;
  }

  // Whether so many pixels from this one on are neighbours, and their windows lie inside.
  bool areInside(const OutputPixel& pixel, int64_t count) const {
    const Window window = at(pixel);
    const int64_t bottom = window.top + (params_.kernel[0] - 1) * params_.dilations[0];
    const int64_t right = window.left + (params_.kernel[1] - 1) * params_.dilations[1] +
                          (count - 1) * params_.strides[1];
    return window.top >= 0 && window.left >= 0 && bottom < in_.height && right < in_.width &&
           areNeighbours(pixel.column, count);
  }
  bool areNeighbours(int64_t column, int64_t count) const { return column + count <= out_.width; }
  // Bytes from one tap to that of the next pixel of the result.
  int64_t pixelStep() const { return params_.strides[1] * params_.channels; }

 private:
  const ConvParams& params_;
  const Picture in_, out_;
  const uint8_t* data_;
  uint8_t zeros_[kMostChannels];
};

}  // namespace camshaft::cpu::gemm_int8
