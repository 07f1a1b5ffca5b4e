#include "backend/kernel.h"
#include "backends/cpu/families.h"
#include "backends/cpu/prepare_common.h"
#include "backends/cpu/roi/params.h"
#include "ops/roi.h"

namespace camshaft::cpu::roi {

namespace {

Verdict supports(const Node& node, const BuildContext&) {
  if (Verdict verdict = acceptsPlain(node, &ops::RoiAlign); !verdict) return verdict;
  if (node.input(0)->dataType() != DataType::kF32 || node.input(1)->dataType() != DataType::kF32)
    return Verdict::no("only f32");
  const DataType index = node.input(2)->dataType();
  if (index != DataType::kI32 && index != DataType::kI64)
    return Verdict::no("only i32 and i64 as indices of images");
  return Verdict::yes();
}

Prepared prepare(const Node& node, const BuildContext&, int64_t) {
  const auto& attrs = node.as<RoiAlignAttrs>();
  return preparedWith(node,
                      RoiAlignParams{.scale = attrs.scale,
                                     .height = static_cast<int32_t>(attrs.height),
                                     .width = static_cast<int32_t>(attrs.width),
                                     .samplingRatio = static_cast<int32_t>(attrs.samplingRatio),
                                     .isMax = attrs.mode == RoiAlignMode::kMax,
                                     .halfPixel = attrs.halfPixel});
}

constexpr Kernel kKernels[] = {
    {"cpu/roi_align_f32", supports, prepare},
};

}  // namespace

std::span<const Kernel> kernels() { return kKernels; }

}  // namespace camshaft::cpu::roi
