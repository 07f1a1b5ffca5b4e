// Normalisations.
#pragma once

#include "ops/ops.h"

namespace camshaft {

// LayerNorm(x, scale?, bias?): normalises over dimensions axis.. to the last; scale and bias
// broadcast to x. rms leaves the mean out: x / sqrt(mean(x*x) + epsilon).
struct LayerNormAttrs : AttrsOf<LayerNormAttrs> {
  int64_t axis = -1;  // non-negative once added
  double epsilon = 1e-5;
  bool rms = false;
  void fields(AttrVisitor& visit) override {
    visit("axis", axis);
    visit("epsilon", epsilon);
    visit("rms", rms);
  }
};

// PointwiseNorm(operands..., scale?, bias?): LayerNorm of what the expression makes of its
// operands, which broadcast to one shape. Further outputs are what is kept: the expression's own
// value, as of the sum that begins a residual branch, and the result as it is without an epilogue,
// which quantises it.
struct PointwiseNormAttrs : AttrsOf<PointwiseNormAttrs> {
  Expr expr;
  int64_t axis = -1;  // non-negative once added
  double epsilon = 1e-5;
  bool rms = false;
  bool keepsValue = false;
  bool keepsResult = false;
  int scaleInput() const { return expr.inputCount(); }
  int biasInput() const { return expr.inputCount() + 1; }
  int valueOutput() const { return 1; }
  int resultOutput() const { return 1 + keepsValue; }
  int outputs() const { return 1 + keepsValue + keepsResult; }
  void fields(AttrVisitor& visit) override {
    visit("expr", expr);
    visit("axis", axis);
    visit("epsilon", epsilon);
    visit("rms", rms);
    visit("keeps_value", keepsValue);
    visit("keeps_result", keepsResult);
  }
};

// RowMoments(x): of each kMomentColumns neighbours in a row of x [..., K] their mean and the sum of
// the squares of what they are away from it, f32 [..., K / kMomentColumns, 2]. Means and variances
// of whole rows follow from these without the loss of digits that sums of squares have.
inline constexpr int64_t kMomentColumns = 32;
bool hasMoments(const Shape& rows);     // whether RowMoments takes them
Shape momentsShape(const Shape& rows);  // of what it gives
std::vector<double> momentsOfRows(const std::vector<double>& values);

// GroupNorm(x, scale?, bias?): normalises each group of C/groups channels over channels and
// space; scale and bias are [C]. groups == C is instance normalisation. Layout as Conv.
struct GroupNormAttrs : AttrsOf<GroupNormAttrs> {
  int64_t groups = 1;  // 0: one group per channel
  double epsilon = 1e-5;
  bool channelsLast = false;
  void fields(AttrVisitor& visit) override {
    visit("groups", groups);
    visit("epsilon", epsilon);
    visit("channels_last", channelsLast);
  }
};

// Local response normalisation over channels: x / (bias + alpha/size * sum(x*x))^beta.
struct LrnAttrs : AttrsOf<LrnAttrs> {
  int64_t size = 1;
  double alpha = 1e-4, beta = 0.75, bias = 1;
  void fields(AttrVisitor& visit) override {
    visit("size", size);
    visit("alpha", alpha);
    visit("beta", beta);
    visit("bias", bias);
  }
};

}  // namespace camshaft
