#include "backend/kernel.h"
#include "backends/cpu/families.h"
#include "backends/cpu/index/params.h"
#include "backends/cpu/prepare_common.h"
#include "ops/index.h"

namespace camshaft::cpu::index {

namespace {

Verdict accepts(const Node& node, Op op, int indicesInput) {
  if (Verdict verdict = acceptsPlainBytes(node, op); !verdict) return verdict;
  const DataType indices = node.inputs[indicesInput]->dataType();
  if (indices != DataType::kI32 && indices != DataType::kI64)
    return Verdict::no("needs i32 or i64 indices");
  return Verdict::yes();
}

Verdict supportsGather(const Node& node, const BuildContext&) {
  return accepts(node, &ops::Gather, 1);
}
Prepared prepareGather(const Node& node, const BuildContext&, int64_t) {
  const auto& attrs = node.as<GatherAttrs>();
  return preparedWith(node, GatherParams{attrs.axis, attrs.zeroOutside});
}

Verdict supportsGatherElements(const Node& node, const BuildContext&) {
  return accepts(node, &ops::GatherElements, 1);
}
Prepared prepareGatherElements(const Node& node, const BuildContext&, int64_t) {
  const auto& attrs = node.as<GatherElementsAttrs>();
  return preparedWith(node, GatherParams{attrs.axis, attrs.zeroOutside});
}

Verdict supportsGatherND(const Node& node, const BuildContext&) {
  return accepts(node, &ops::GatherND, 1);
}
Prepared prepareGatherND(const Node& node, const BuildContext&, int64_t) {
  const auto& attrs = node.as<GatherNDAttrs>();
  return preparedWith(node, GatherParams{attrs.batchDims, attrs.zeroOutside});
}

Verdict acceptsScatter(const Node& node, Op op, ScatterReduction reduction) {
  static_assert(static_cast<int>(ScatterReduction::kMax) == static_cast<int>(Scatter::kMax));
  if (Verdict verdict = accepts(node, op, 1); !verdict) return verdict;
  const DataType type = node.output()->dataType();
  const bool isOfType = reduction == ScatterReduction::kNone || type == DataType::kF32 ||
                        type == DataType::kI32 || type == DataType::kI64;
  return isOfType ? Verdict::yes() : Verdict::no("only replaces elements of this type");
}

Verdict supportsScatterElements(const Node& node, const BuildContext&) {
  if (node.op != &ops::ScatterElements) return acceptsPlain(node, &ops::ScatterElements);
  return acceptsScatter(node, &ops::ScatterElements, node.as<ScatterElementsAttrs>().reduction);
}
Prepared prepareScatterElements(const Node& node, const BuildContext&, int64_t) {
  const auto& attrs = node.as<ScatterElementsAttrs>();
  return preparedWith(node,
                      ScatterElementsParams{attrs.axis, static_cast<Scatter>(attrs.reduction)});
}

Verdict supportsScatterND(const Node& node, const BuildContext&) {
  if (node.op != &ops::ScatterND) return acceptsPlain(node, &ops::ScatterND);
  return acceptsScatter(node, &ops::ScatterND, node.as<ScatterNDAttrs>().reduction);
}

Prepared prepareScatterND(const Node& node, const BuildContext&, int64_t) {
  const auto& attrs = node.as<ScatterNDAttrs>();
  return preparedWith(node,
                      ScatterNDParams{attrs.skipsOutside, static_cast<Scatter>(attrs.reduction)});
}

bool updatesInPlace(const Node&, int input) { return input == 0; }

Verdict supportsOneHot(const Node& node, const BuildContext&) {
  return accepts(node, &ops::OneHot, 0);
}
Prepared prepareOneHot(const Node& node, const BuildContext&, int64_t) {
  return preparedWith(node, OneHotParams{node.as<OneHotAttrs>().axis});
}

Verdict supportsTopK(const Node& node, const BuildContext&) {
  if (Verdict verdict = acceptsPlain(node, &ops::TopK); !verdict) return verdict;
  const DataType type = node.input(0)->dataType();
  if (type != DataType::kF32 && type != DataType::kI32 && type != DataType::kI64)
    return Verdict::no("only f32, i32 and i64");
  return Verdict::yes();
}
Prepared prepareTopK(const Node& node, const BuildContext& context, int64_t) {
  const auto& attrs = node.as<TopKAttrs>();
  Prepared prepared =
      preparedWith(node, TopKParams{static_cast<int32_t>(attrs.axis), attrs.largest});
  prepared.workspaceBytes =
      node.input(0)->shape()[attrs.axis] * static_cast<int64_t>(sizeof(int64_t)) * context.threads;
  return prepared;
}

constexpr Kernel kKernels[] = {
    {"cpu/gather", supportsGather, prepareGather},
    {"cpu/gather_elements", supportsGatherElements, prepareGatherElements},
    {"cpu/gather_nd", supportsGatherND, prepareGatherND},
    {"cpu/scatter_elements", supportsScatterElements, prepareScatterElements, nullptr,
     updatesInPlace},
    {"cpu/scatter_nd", supportsScatterND, prepareScatterND, nullptr, updatesInPlace},
    {"cpu/one_hot", supportsOneHot, prepareOneHot},
    {"cpu/top_k", supportsTopK, prepareTopK},
};

}  // namespace

std::span<const Kernel> kernels() { return kKernels; }

}  // namespace camshaft::cpu::index
