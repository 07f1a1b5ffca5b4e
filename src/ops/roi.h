// Pooling over regions of interest: boxes (x1, y1, x2, y2) on images [N, C, H, W].
#pragma once

#include "ops/ops.h"

namespace camshaft {

enum class RoiAlignMode { kAverage, kMax };

// RoiAlign(x, rois, batchIndices): rois is [R, 4]; batchIndices (i32 or i64, [R]) says which image
// each is of. A box, times `scale`, is cut into height x width bins; samples between pixels are
// spread evenly over a bin, `samplingRatio` squared of them, or (0) one per pixel or so. A bin's
// result is the samples' mean, or the largest weighted corner of any sample.
struct RoiAlignAttrs : AttrsOf<RoiAlignAttrs> {
  RoiAlignMode mode = RoiAlignMode::kAverage;
  int64_t height = 1, width = 1;
  int64_t samplingRatio = 0;
  double scale = 1;
  bool halfPixel =
      true;  // pixel centres are at .5; otherwise at whole numbers, and boxes are 1x1 at least
  void fields(AttrVisitor& visit) override {
    static constexpr std::string_view kModes[] = {"average", "max"};
    visit("mode", mode, kModes);
    visit("height", height);
    visit("width", width);
    visit("sampling_ratio", samplingRatio);
    visit("scale", scale);
    visit("half_pixel", halfPixel);
  }
};
// Adaptive sampling stops growing here, whatever a box says.
inline constexpr int64_t kMostRoiSamples = 4096;

// RoiMaxPool(x, rois): rois is [R, 5], the image's index before the box, which is rounded to whole
// pixels. The largest element of each bin; 0 for a bin outside the image.
struct RoiMaxPoolAttrs : AttrsOf<RoiMaxPoolAttrs> {
  int64_t height = 1, width = 1;
  double scale = 1;
  void fields(AttrVisitor& visit) override {
    visit("height", height);
    visit("width", width);
    visit("scale", scale);
  }
};

}  // namespace camshaft
