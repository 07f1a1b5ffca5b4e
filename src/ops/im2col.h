// im2col and col2im: images as columns of window elements, what convolutions multiply, and back.
#pragma once

#include "ops/ops.h"

namespace camshaft {

// DeformColumns(x, offsets, mask?): what every tap of a kernel sees of x [N, C, H, W] from every
// window, [N, C, kernelHeight*kernelWidth, windows]. The taps of window (i, j) are moved by
// offsets [N, groups*taps*2, windowRows, windowColumns], y before x; what they see between pixels
// is interpolated, 0 outside, and multiplied by mask [N, groups*taps, windowRows, windowColumns].
// Groups of channels have offsets of their own.
struct DeformColumnsAttrs : AttrsOf<DeformColumnsAttrs> {
  std::vector<int64_t> kernel, strides, dilations;  // two of each
  std::vector<int64_t> padsBegin, padsEnd;
  int64_t groups = 1;
  void fields(AttrVisitor& visit) override {
    visit("kernel", kernel);
    visit("strides", strides);
    visit("dilations", dilations);
    visit("pads_begin", padsBegin);
    visit("pads_end", padsEnd);
    visit("groups", groups);
  }
};

// FoldColumns(columns): [N, C*taps, windows] to an image [N, C, sizes...], every element of which
// is the sum of what the windows over it hold for it.
struct FoldColumnsAttrs : AttrsOf<FoldColumnsAttrs> {
  std::vector<Dim> sizes;  // spatial
  std::vector<int64_t> kernel, strides, dilations, padsBegin, padsEnd;
  void fields(AttrVisitor& visit) override {
    visit("sizes", sizes);
    visit("kernel", kernel);
    visit("strides", strides);
    visit("dilations", dilations);
    visit("pads_begin", padsBegin);
    visit("pads_end", padsEnd);
  }
};

}  // namespace camshaft
