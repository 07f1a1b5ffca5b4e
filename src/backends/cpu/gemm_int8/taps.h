// The image of a convolution of bytes as conv/tap_images.h lays it out, two bytes being a half
// there: taps are read where they lie.
#pragma once

#include <cstddef>
#include <cstdint>

#include "backends/cpu/conv/tap_images.h"
#include "backends/cpu/gemm_int8/params.h"
#include "backends/cpu/gemm_int8/windows.h"

namespace camshaft::cpu::gemm_int8 {

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

}  // namespace camshaft::cpu::gemm_int8
