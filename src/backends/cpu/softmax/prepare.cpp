#include "backend/kernel.h"
#include "backends/cpu/families.h"
#include "backends/cpu/prepare_common.h"
#include "backends/cpu/softmax/params.h"
#include "ops/softmax.h"

namespace camshaft::cpu::softmax {

namespace {

Verdict supports(const Node& node, const BuildContext&) {
  if (Verdict verdict = acceptsPlainF32OrBf16(node, &ops::Softmax); !verdict) return verdict;
  const auto& attrs = node.as<SoftmaxAttrs>();
  if (attrs.kind == SoftmaxKind::kHardmax) return Verdict::no("no hardmax");
  const Shape& x = node.inputs[0]->shape();
  const bool isRow = attrs.axis + 1 == static_cast<int64_t>(x.size()) && isShortRow({x.back()});
  if (node.inputs[0]->dataType() == DataType::kBF16 && !isRow) return Verdict::no(kLongRow);
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
