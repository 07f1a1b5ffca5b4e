#include "backend/kernel.h"
#include "backends/cpu/families.h"
#include "backends/cpu/move/params.h"
#include "backends/cpu/refusals.h"
#include "ops/move.h"
#include "support/byte_reader.h"

namespace camshaft::cpu::move {

namespace {

template <class Params>
Prepared preparedWith(const Node& node, const Params& params, std::vector<Dim> dimArgs = {}) {
  ByteWriter writer;
  writer.write(params);
  Prepared prepared;
  prepared.params = writer.take();
  prepared.inputs = allInputs(node);
  prepared.dimArgs = std::move(dimArgs);
  return prepared;
}

Prepared preparePlain(const Node& node, const PrepareOptions&) {
  Prepared prepared;
  prepared.inputs = allInputs(node);
  return prepared;
}

// A node that moves whole bytes.
Verdict acceptsBytes(const Node& node, Op op) {
  if (Verdict verdict = acceptsPlain(node, op); !verdict) return verdict;
  return isPacked(node.output()->dataType()) ? Verdict::no("elements share bytes") : Verdict::yes();
}

Verdict supportsCopy(const Node& node) {
  return acceptsPlain(node, node.op == &ops::Reshape ? &ops::Reshape : &ops::Identity);
}
bool copiesInPlace(const Node&, int) { return true; }

Verdict supportsTranspose(const Node& node) { return acceptsBytes(node, &ops::Transpose); }
Prepared prepareTranspose(const Node& node, const PrepareOptions&) {
  const auto& order = node.as<TransposeAttrs>().order;
  TransposeParams params{.rank = static_cast<int32_t>(order.size())};
  for (size_t i = 0; i < order.size(); ++i) params.order[i] = static_cast<int32_t>(order[i]);
  return preparedWith(node, params);
}

Verdict supportsExpand(const Node& node) { return acceptsBytes(node, &ops::Expand); }
Verdict supportsTile(const Node& node) { return acceptsBytes(node, &ops::Tile); }

Verdict supportsSlice(const Node& node) { return acceptsBytes(node, &ops::Slice); }
Prepared prepareSlice(const Node& node, const PrepareOptions&) {
  const auto& attrs = node.as<SliceAttrs>();
  SliceParams params{.count = static_cast<int32_t>(attrs.axes.size())};
  for (size_t i = 0; i < attrs.axes.size(); ++i) {
    params.axes[i] = static_cast<int32_t>(attrs.axes[i]);
    params.steps[i] = attrs.steps[i];
  }
  return preparedWith(node, params, attrs.starts);
}

Verdict supportsConcat(const Node& node) { return acceptsBytes(node, &ops::Concat); }
Prepared prepareConcat(const Node& node, const PrepareOptions&) {
  return preparedWith(node, ConcatParams{static_cast<int32_t>(node.as<ConcatAttrs>().axis)});
}

Verdict supportsPad(const Node& node) { return acceptsBytes(node, &ops::Pad); }
Prepared preparePad(const Node& node, const PrepareOptions&) {
  static_assert(static_cast<int>(camshaft::PadMode::kWrap) == static_cast<int>(PadMode::kWrap));
  const auto& attrs = node.as<PadAttrs>();
  return preparedWith(node, PadParams{static_cast<PadMode>(attrs.mode)}, attrs.begin);
}

constexpr Kernel kKernels[] = {
    {"cpu/copy", supportsCopy, preparePlain, nullptr, copiesInPlace},
    {"cpu/transpose", supportsTranspose, prepareTranspose},
    {"cpu/expand", supportsExpand, preparePlain},
    {"cpu/tile", supportsTile, preparePlain},
    {"cpu/slice", supportsSlice, prepareSlice},
    {"cpu/concat", supportsConcat, prepareConcat},
    {"cpu/pad", supportsPad, preparePad},
};

}  // namespace

std::span<const Kernel> kernels() { return kKernels; }

}  // namespace camshaft::cpu::move
