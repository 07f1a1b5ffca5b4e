// Softmax, log-softmax and hardmax along one axis.
#pragma once

#include "ops/ops.h"

namespace camshaft {

enum class SoftmaxKind { kSoftmax, kLogSoftmax, kHardmax };

struct SoftmaxAttrs : AttrsOf<SoftmaxAttrs> {
  int64_t axis = 0;  // non-negative
  SoftmaxKind kind = SoftmaxKind::kSoftmax;
  void fields(AttrVisitor& visit) override {
    static constexpr std::string_view kKinds[] = {"softmax", "log_softmax", "hardmax"};
    visit("axis", axis);
    visit("kind", kind, kKinds);
  }
};

}  // namespace camshaft
