#include "ops/select.h"

#include "backend/kernel.h"
#include "backends/cpu/families.h"
#include "backends/cpu/prepare_common.h"
#include "backends/cpu/select/params.h"

namespace camshaft::cpu::select {

namespace {

Verdict supportsNonZero(const Node& node, const BuildContext&) {
  if (Verdict verdict = acceptsPlain(node, &ops::NonZero); !verdict) return verdict;
  return isPacked(node.input(0)->dataType()) ? Verdict::no("elements share bytes") : Verdict::yes();
}
Prepared prepareNonZero(const Node& node, const BuildContext& context, int64_t config) {
  Prepared prepared = preparedWithout(node, context, config);
  prepared.workspaceBytes = kNonZeroParts * static_cast<int64_t>(sizeof(int64_t));
  return prepared;
}

Verdict supportsNms(const Node& node, const BuildContext&) {
  return acceptsPlain(node, &ops::NonMaxSuppression);
}
Prepared prepareNms(const Node& node, const BuildContext& context, int64_t) {
  const auto& attrs = node.as<NonMaxSuppressionAttrs>();
  const Shape& scores = node.input(1)->shape();
  const Dim most = min(attrs.limit, scores[2]);  // per batch and class
  Prepared prepared = preparedWith(node, NmsParams{attrs.centred}, {most});
  prepared.workspaceBytes =
      (scores[2] * kBytesPerCandidate + most * kBytesPerKept) * context.threads +
      scores[0] * scores[1] * kBytesPerClass;
  return prepared;
}

constexpr Kernel kKernels[] = {
    {"cpu/non_zero", supportsNonZero, prepareNonZero},
    {"cpu/non_max_suppression", supportsNms, prepareNms},
};

}  // namespace

std::span<const Kernel> kernels() { return kKernels; }

}  // namespace camshaft::cpu::select
