// Convolution and its transpose over one to three spatial dimensions.
#pragma once

#include "ops/ops.h"

namespace camshaft {

// Conv(x, weights, bias?): x is [N, C, spatial...], or [N, spatial..., C] when channelsLast; the
// weights are always [M, C/groups, kernel...]; the bias is [M].
struct ConvAttrs : AttrsOf<ConvAttrs> {
  std::vector<int64_t> strides, dilations;  // one per spatial dimension
  std::vector<int64_t> padsBegin, padsEnd;  // may be negative: cropping
  int64_t groups = 1;
  bool channelsLast = false;
  void fields(AttrVisitor& visit) override {
    visit("strides", strides);
    visit("dilations", dilations);
    visit("pads_begin", padsBegin);
    visit("pads_end", padsEnd);
    visit("groups", groups);
    visit("channels_last", channelsLast);
  }
};

// ConvTranspose(x, weights, bias?): weights are [C, M/groups, kernel...]. Output size is
// (in - 1)*stride + outputPadding + (kernel - 1)*dilation + 1 - padsBegin - padsEnd.
struct ConvTransposeAttrs : AttrsOf<ConvTransposeAttrs> {
  std::vector<int64_t> strides, dilations, padsBegin, padsEnd, outputPadding;
  int64_t groups = 1;
  bool channelsLast = false;
  void fields(AttrVisitor& visit) override {
    visit("strides", strides);
    visit("dilations", dilations);
    visit("pads_begin", padsBegin);
    visit("pads_end", padsEnd);
    visit("output_padding", outputPadding);
    visit("groups", groups);
    visit("channels_last", channelsLast);
  }
};

}  // namespace camshaft
