// Images from which a product reads the taps of a convolution where they lie (Rows16), for units
// that read rows in place.
//
// The padded image in bf16, its channels filled up to whole steps; or one of bytes, two of which
// are a half here. A stride of s takes it apart into s x s images of every s-th line and place. So
// the patches of neighbouring output pixels are neighbours themselves, at the same distance for
// every tap, also across the ends of lines, where results are computed that nobody wants: as many
// per line as the kernel is wider than the stride.
//
// Of large images these are made for a strip of output lines at a time, by the worker that reads
// them next.
#pragma once

#include <vector>

#include "backends/cpu/conv/algorithms.h"
#include "backends/cpu/gemm/gemm16.h"

namespace camshaft::cpu {

// The image that taps are of: f32, or halves as they are.
struct TapSource {
  const float* f32 = nullptr;
  const uint16_t* halves = nullptr;
  uint16_t padding = 0;  // what lies around it
};

class TapImages {
 public:
  TapImages(const ConvShape& shape, const ConvExtent& extent);
  // Of so many output lines of one image.
  TapImages(const ConvShape& shape, const ConvExtent& extent, int64_t outLines);

  int64_t floats() const;  // of memory
  // Rows of the product, with those nobody wants.
  int64_t rows() const;
  // Fills the memory, 64-byte aligned.
  Rows16 fill(const TapSource& source, ThreadPool& pool, float* memory) const;
  // The same for a strip from output line `line` of an image on.
  Rows16 fillStrip(const TapSource& source, int64_t image, int64_t line, float* memory) const;

  // Whether strips are better, how many lines make one for so many threads, and memory for any
  // that is as wide or narrower.
  static bool wantsStrips(const ConvShape& shape, const ConvExtent& extent);
  static int64_t stripLines(const ConvShape& shape, const ConvExtent& extent, int threads);
  static int64_t stripFloats(const ConvShape& shape, const ConvExtent& extent);
  // Memory for all images that want no strips.
  static constexpr int64_t kMostWholeFloats = 256 * 1024;

 private:
  TapImages(const ConvShape& shape, const ConvExtent& extent, int64_t batch, int64_t outLines);
  Rows16 rowsOf(const uint16_t* halves) const;
  void fillLine(const TapSource& source, int64_t part, int64_t image, int64_t line,
                uint16_t* to) const;
  template <class T>
  void copyPlaces(const T* input, int64_t pixel, int64_t places, uint16_t* to) const;

  const ConvShape& shape_;
  const ConvExtent& extent_;
  int64_t batch_;
  int64_t depth_;                 // channels, whole steps of them
  int64_t outHeight_, outWidth_;  // of the convolution
  int64_t lines_, pitch_;         // of an image
  std::vector<int64_t> parts_;    // of stride x stride the images that taps read
  std::vector<int64_t> taps_;     // halves from the beginning of a patch
};

}  // namespace camshaft::cpu
