#include "backend/kernel.h"
#include "backends/cpu/families.h"
#include "backends/cpu/prepare_common.h"
#include "backends/cpu/region/params.h"
#include "ops/im2col.h"
#include "ops/roi.h"

namespace camshaft::cpu::region {

namespace {

Verdict supportsRoiAlign(const Node& node) {
  if (Verdict verdict = acceptsPlain(node, &ops::RoiAlign); !verdict) return verdict;
  if (node.input(0)->dataType() != DataType::kF32 || node.input(1)->dataType() != DataType::kF32)
    return Verdict::no("only f32");
  const DataType index = node.input(2)->dataType();
  if (index != DataType::kI32 && index != DataType::kI64)
    return Verdict::no("only i32 and i64 as indices of images");
  return Verdict::yes();
}

Prepared prepareRoiAlign(const Node& node, const PrepareOptions&) {
  const auto& attrs = node.as<RoiAlignAttrs>();
  return preparedWith(node,
                      RoiAlignParams{.scale = attrs.scale,
                                     .height = static_cast<int32_t>(attrs.height),
                                     .width = static_cast<int32_t>(attrs.width),
                                     .samplingRatio = static_cast<int32_t>(attrs.samplingRatio),
                                     .isMax = attrs.mode == RoiAlignMode::kMax,
                                     .halfPixel = attrs.halfPixel});
}

Verdict supportsDeformColumns(const Node& node) {
  return acceptsPlainF32(node, &ops::DeformColumns);
}

Prepared prepareDeformColumns(const Node& node, const PrepareOptions&) {
  const auto& attrs = node.as<DeformColumnsAttrs>();
  DeformColumnsParams params{};
  for (int i = 0; i < 2; ++i) {
    params.kernel[i] = attrs.kernel[i];
    params.strides[i] = attrs.strides[i];
    params.dilations[i] = attrs.dilations[i];
    params.padsBegin[i] = attrs.padsBegin[i];
  }
  params.groups = attrs.groups;
  return preparedWith(node, params);
}

constexpr Kernel kKernels[] = {
    {"cpu/roi_align_f32", supportsRoiAlign, prepareRoiAlign},
    {"cpu/deform_columns_f32", supportsDeformColumns, prepareDeformColumns},
};

}  // namespace

std::span<const Kernel> kernels() { return kKernels; }

}  // namespace camshaft::cpu::region
