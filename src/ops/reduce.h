// Reductions, arg-reductions and cumulative sums along axes.
#pragma once

#include "ops/ops.h"

namespace camshaft {

enum class ReduceKind { kSum, kMean, kMax, kMin, kProd, kL1, kL2, kSumSquare, kLogSum, kLogSumExp };

struct ReduceAttrs : AttrsOf<ReduceAttrs> {
  ReduceKind kind = ReduceKind::kSum;
  std::vector<int64_t> axes;  // sorted, non-negative; empty reduces nothing
  bool keepDims = true;
  void fields(AttrVisitor& visit) override {
    static constexpr std::string_view kKinds[] = {
        "sum", "mean", "max", "min", "prod", "l1", "l2", "sum_square", "log_sum", "log_sum_exp"};
    visit("kind", kind, kKinds);
    visit("axes", axes);
    visit("keep_dims", keepDims);
  }
};

// ArgReduce(x): i64 index of the largest or smallest element along one axis.
struct ArgReduceAttrs : AttrsOf<ArgReduceAttrs> {
  bool largest = true;
  int64_t axis = 0;  // non-negative
  bool keepDims = true;
  bool selectLast = false;  // of equal elements
  void fields(AttrVisitor& visit) override {
    visit("largest", largest);
    visit("axis", axis);
    visit("keep_dims", keepDims);
    visit("select_last", selectLast);
  }
};

struct CumSumAttrs : AttrsOf<CumSumAttrs> {
  int64_t axis = 0;  // non-negative
  bool exclusive = false, reverse = false;
  bool product = false;  // multiplies instead of adding
  void fields(AttrVisitor& visit) override {
    visit("axis", axis);
    visit("exclusive", exclusive);
    visit("reverse", reverse);
    visit("product", product);
  }
};

}  // namespace camshaft
