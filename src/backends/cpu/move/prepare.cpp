#include "backend/kernel.h"
#include "backends/cpu/families.h"
#include "backends/cpu/move/params.h"
#include "backends/cpu/prepare_common.h"
#include "ops/move.h"

namespace camshaft::cpu::move {

namespace {

Verdict supportsCopy(const Node& node, const BuildContext&) {
  return acceptsPlain(node, node.op == &ops::Reshape ? &ops::Reshape : &ops::Identity);
}
bool copiesInPlace(const Node&, int) { return true; }

Verdict supportsTranspose(const Node& node, const BuildContext&) {
  return acceptsPlainBytes(node, &ops::Transpose);
}
Prepared prepareTranspose(const Node& node, const BuildContext&, int64_t) {
  const auto& order = node.as<TransposeAttrs>().order;
  TransposeParams params{.rank = static_cast<int32_t>(order.size())};
  for (size_t i = 0; i < order.size(); ++i) params.order[i] = static_cast<int32_t>(order[i]);
  return preparedWith(node, params);
}

Verdict supportsExpand(const Node& node, const BuildContext&) {
  return acceptsPlainBytes(node, &ops::Expand);
}
Verdict supportsTile(const Node& node, const BuildContext&) {
  return acceptsPlainBytes(node, &ops::Tile);
}

Verdict supportsSlice(const Node& node, const BuildContext&) {
  return acceptsPlainBytes(node, &ops::Slice);
}
Prepared prepareSlice(const Node& node, const BuildContext&, int64_t) {
  const auto& attrs = node.as<SliceAttrs>();
  SliceParams params{.count = static_cast<int32_t>(attrs.axes.size())};
  for (size_t i = 0; i < attrs.axes.size(); ++i) {
    params.axes[i] = static_cast<int32_t>(attrs.axes[i]);
    params.steps[i] = attrs.steps[i];
  }
  return preparedWith(node, params, attrs.starts);
}

Verdict supportsConcat(const Node& node, const BuildContext&) {
  return acceptsPlainBytes(node, &ops::Concat);
}
Prepared prepareConcat(const Node& node, const BuildContext&, int64_t) {
  return preparedWith(node, ConcatParams{static_cast<int32_t>(node.as<ConcatAttrs>().axis)});
}

Verdict supportsPad(const Node& node, const BuildContext&) {
  return acceptsPlainBytes(node, &ops::Pad);
}
Prepared preparePad(const Node& node, const BuildContext&, int64_t) {
  static_assert(static_cast<int>(camshaft::PadMode::kWrap) == static_cast<int>(PadMode::kWrap));
  const auto& attrs = node.as<PadAttrs>();
  return preparedWith(node, PadParams{static_cast<PadMode>(attrs.mode)}, attrs.begin);
}

constexpr Kernel kKernels[] = {
    {"cpu/copy", supportsCopy, preparedWithout, nullptr, copiesInPlace},
    {"cpu/transpose", supportsTranspose, prepareTranspose},
    {"cpu/expand", supportsExpand, preparedWithout},
    {"cpu/tile", supportsTile, preparedWithout},
    {"cpu/slice", supportsSlice, prepareSlice},
    {"cpu/concat", supportsConcat, prepareConcat},
    {"cpu/pad", supportsPad, preparePad},
};

}  // namespace

std::span<const Kernel> kernels() { return kKernels; }

}  // namespace camshaft::cpu::move
