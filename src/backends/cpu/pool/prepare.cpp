#include "ops/pool.h"

#include "backend/kernel.h"
#include "backends/cpu/families.h"
#include "backends/cpu/pool/params.h"
#include "backends/cpu/prepare_common.h"

namespace camshaft::cpu::pool {

namespace {

Verdict supports(const Node& node, const BuildContext&) {
  if (Verdict verdict = acceptsPlainF32OrBf16(node, &ops::Pool); !verdict) return verdict;
  const auto& attrs = node.as<PoolAttrs>();
  if (node.inputs[0]->dataType() == DataType::kBF16 && !attrs.channelsLast)
    return Verdict::no("pools bf16 with channels last");
  if (attrs.kind == PoolKind::kLp) return Verdict::no("no Lp pooling");
  if (node.outputs.size() > 1) return Verdict::no("gives no indices");
  if (attrs.kernel.size() > 2) return Verdict::no("only one or two spatial dimensions");
  return Verdict::yes();
}

Verdict supportsBytes(const Node& node, const BuildContext&) {
  if (Verdict verdict = acceptsPlain(node, &ops::Pool); !verdict) return verdict;
  const auto& attrs = node.as<PoolAttrs>();
  const DataType type = node.input(0)->dataType();
  if (type != DataType::kU8 && type != DataType::kI8) return Verdict::no("only for bytes");
  if (attrs.kind != PoolKind::kMax || node.outputs.size() > 1)
    return Verdict::no("only for maxima without indices");
  if (!attrs.channelsLast) return Verdict::no("needs channels last");
  if (attrs.kernel.size() > 2) return Verdict::no("only one or two spatial dimensions");
  return Verdict::yes();
}

Prepared prepare(const Node& node, const BuildContext&, int64_t) {
  const auto& attrs = node.as<PoolAttrs>();
  const size_t spatialRank = attrs.kernel.size();
  PoolParams params{.spatialRank = static_cast<int32_t>(spatialRank),
                    .average = attrs.kind == PoolKind::kAverage,
                    .countIncludePad = attrs.countIncludePad,
                    .channelsLast = attrs.channelsLast};
  for (size_t i = 0; i < spatialRank; ++i)
    params.windows[2 - spatialRank + i] = {attrs.kernel[i], attrs.strides[i], attrs.dilations[i],
                                           attrs.padsBegin[i], attrs.padsEnd[i]};
  return preparedWith(node, params);
}

constexpr Kernel kKernels[] = {{"cpu/pool_f32", supports, prepare},
                               {"cpu/pool_max_bytes", supportsBytes, prepare}};

}  // namespace

std::span<const Kernel> kernels() { return kKernels; }

}  // namespace camshaft::cpu::pool
