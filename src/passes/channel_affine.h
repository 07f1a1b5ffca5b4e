// Pointwise expressions that scale and shift each channel by constants.
#pragma once

#include <optional>
#include <vector>

#include "passes/bound_expr.h"

namespace camshaft {

// scale[c]*x + shift[c] for channel c; one entry per channel.
struct ChannelAffine {
  std::vector<double> scale, shift;
  bool scales() const;  // some scale is not 1
  bool shifts() const;  // some shift is not 0
};

// The expression as a function of `x`, when it is affine in it with coefficients that are constant
// and vary only along dimension `channelAxis` of x.
std::optional<ChannelAffine> asChannelAffine(const BoundExpr& bound, const Value* x,
                                             int64_t channelAxis);

}  // namespace camshaft
