#include "backend/kernel.h"
#include "backends/cpu/families.h"
#include "backends/cpu/prepare_common.h"
#include "backends/cpu/softmax/params.h"
#include "ops/softmax.h"

namespace camshaft::cpu::softmax {

namespace {

Verdict supports(const Node& node, const BuildContext&) {
  if (Verdict verdict = acceptsPlainF32(node, &ops::Softmax); !verdict) return verdict;
  if (node.as<SoftmaxAttrs>().kind == SoftmaxKind::kHardmax) return Verdict::no("no hardmax");
  return Verdict::yes();
}

Prepared prepare(const Node& node, const BuildContext&, int64_t) {
  const auto& attrs = node.as<SoftmaxAttrs>();
  return preparedWith(node, SoftmaxParams{static_cast<int32_t>(attrs.axis),
                                          attrs.kind == SoftmaxKind::kLogSoftmax});
}

bool inPlace(const Node&, int) { return true; }

constexpr Kernel kKernels[] = {{"cpu/softmax_f32", supports, prepare, nullptr, inPlace}};

}  // namespace

std::span<const Kernel> kernels() { return kKernels; }

}  // namespace camshaft::cpu::softmax
