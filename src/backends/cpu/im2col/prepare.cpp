#include "backend/kernel.h"
#include "backends/cpu/families.h"
#include "backends/cpu/im2col/params.h"
#include "backends/cpu/prepare_common.h"
#include "ops/im2col.h"

namespace camshaft::cpu::im2col {

namespace {

Verdict supports(const Node& node, const BuildContext&) {
  return acceptsPlainF32(node, &ops::DeformColumns);
}

Prepared prepare(const Node& node, const BuildContext&, int64_t) {
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
    {"cpu/deform_columns_f32", supports, prepare},
};

}  // namespace

std::span<const Kernel> kernels() { return kKernels; }

}  // namespace camshaft::cpu::im2col
