// Pointwise expressions that scale and shift each channel by constants.
#pragma once

#include <optional>
#include <vector>

#include "passes/bound_expr.h"

namespace camshaft {

// scale[c]*x + shift[c] for channel c; one entry per channel.
struct ChannelAffine {
  std::vector<double> scale, shift;
  bool isScaleOpaque = false, isShiftOpaque = false;  // ConstantData::isOpaque
  bool scales() const;                                // some scale is not 1, or may not be
  bool shifts() const;                                // some shift is not 0, or may not be
};

// The expression as a function of `x`, when it is affine in it with coefficients that are constant
// and vary only along dimension `channelAxis` of x.
std::optional<ChannelAffine> asChannelAffine(const BoundExpr& bound, const Value* x,
                                             int64_t channelAxis);

}  // namespace camshaft
