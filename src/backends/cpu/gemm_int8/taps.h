// The image of a convolution of bytes as conv/tap_images.h lays it out, two bytes being a half
// there: taps are read where they lie.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "backends/cpu/conv/tap_images.h"
#include "backends/cpu/gemm_int8/params.h"
#include "backends/cpu/gemm_int8/windows.h"

namespace camshaft::cpu::gemm_int8 {

// Whether every tap is whole steps of the type that is multiplied.
bool areTapsSteps(const ConvParams& params, const ProductParams& product);
// Images are read so that are smaller.
inline constexpr int64_t kMostTapBytes =
    TapImages::kMostWholeFloats * static_cast<int64_t>(sizeof(float));
// Workspace behind that of the finish for the image, or for those that are small enough where it is
// not; 0 where none is read so.
int64_t tapBytes(const ConvParams& params, const ProductParams& product, const Picture& in,
                 const Picture& out);

class ByteTaps {
 public:
  // Of an image that is read so.
  ByteTaps(const ConvParams& params, const Picture& in, const Picture& out);
  // Those of the product, with some that nobody wants.
  int64_t rows() const { return images_.rows(); }
  int64_t bytes() const { return images_.floats() * static_cast<int64_t>(sizeof(float)); }
  // Fills the memory, with `zero` around the image.
  Rows16 fill(const uint8_t* image, uint8_t zero, ThreadPool& pool, std::byte* memory) const;

 private:
  const ConvShape shape_;
  const ConvExtent extent_;
  const TapImages images_;  // refers to these
};

// The padded image as it is, of any channels, for multipliers that read rows anywhere: the lines of
// a window are the parts of a row.
class ByteLines {
 public:
  ByteLines(const ConvParams& params, const Picture& in, const Picture& out);
  int64_t rows() const { return 0; }  // just those of the product
  int64_t bytes() const;
  // As above.
  Rows16 fill(const uint8_t* image, uint8_t zero, ThreadPool& pool, std::byte* memory) const;

 private:
  void fillLine(const uint8_t* image, uint8_t zero, int64_t line, uint8_t* to) const;

  const ConvParams& params_;
  const Picture in_, out_;
  int64_t height_, width_;     // of an image with what lies around it
  std::vector<int64_t> taps_;  // the parts, in pairs of bytes from a window's first
};

}  // namespace camshaft::cpu::gemm_int8
