// Windowed pooling. Global pooling is a Reduce over the spatial dimensions.
#pragma once

#include "ops/ops.h"

namespace camshaft {

enum class PoolKind { kMax, kAverage, kLp };

// Pool(x): layout as Conv. Max pooling may have a second output, the flat index of each maximum
// (i64, within the whole input as [N, C, spatial...], whatever its layout; if columnMajorIndices,
// with the order of the spatial dimensions reversed). The first of equal maxima counts, and a NaN
// is the maximum only of a window without numbers.
struct PoolAttrs : AttrsOf<PoolAttrs> {
  PoolKind kind = PoolKind::kMax;
  std::vector<int64_t> kernel, strides, dilations, padsBegin, padsEnd;
  bool ceilMode =
      false;  // output size rounds up; windows that start in the end padding are dropped
  bool countIncludePad = false;  // average: divide by the whole window
  int64_t p = 2;                 // kLp
  bool columnMajorIndices = false;
  bool channelsLast = false;
  void fields(AttrVisitor& visit) override {
    static constexpr std::string_view kKinds[] = {"max", "average", "lp"};
    visit("kind", kind, kKinds);
    visit("kernel", kernel);
    visit("strides", strides);
    visit("dilations", dilations);
    visit("pads_begin", padsBegin);
    visit("pads_end", padsEnd);
    visit("ceil_mode", ceilMode);
    visit("count_include_pad", countIncludePad);
    visit("p", p);
    visit("column_major_indices", columnMajorIndices);
    visit("channels_last", channelsLast);
  }
};

}  // namespace camshaft
