#include <algorithm>

#include "backend/kernel.h"
#include "backends/cpu/attention/deformable.h"
#include "backends/cpu/attention/head_products.h"
#include "backends/cpu/attention/params.h"
#include "backends/cpu/families.h"
#include "backends/cpu/gemm/prepare16.h"
#include "backends/cpu/prepare_common.h"
#include "ops/attention.h"
#include "support/byte_reader.h"

namespace camshaft::cpu::attention {
namespace {

constexpr int kMask = 3;

Verdict supportsTypes(const Node& node, bool takesBf16) {
  if (Verdict verdict = acceptsPlain(node, &ops::Attention); !verdict) return verdict;
  const DataType type = node.inputs[0]->dataType(), keys = node.inputs[1]->dataType();
  if (type != DataType::kF32 && !(takesBf16 && type == DataType::kBF16))
    return Verdict::no(str("attends in f32, not ", type));
  if (keys != type && (type != DataType::kF32 || keys != DataType::kI8))
    return Verdict::no(str("attends to f32 and i8, not to ", keys));
  if (node.hasInput(kMask)) {
    const DataType mask = node.inputs[kMask]->dataType();
    if (mask != DataType::kF32 && mask != DataType::kBool)
      return Verdict::no(str("has no ", mask, " masks"));
  }
  return Verdict::yes();
}

Verdict supports(const Node& node, const BuildContext&) { return supportsTypes(node, false); }

template <Type16 kType>
Verdict supports16(const Node& node, const BuildContext& context) {
  if (Verdict verdict = supportsTypes(node, takesBf16(kType)); !verdict) return verdict;
  return mayRoundTo16(kType, node, context);
}

Prepared prepare(ProductType type, const Node& node, const BuildContext& context) {
  const auto& attrs = node.as<AttentionAttrs>();
  const bool hasMask = node.hasInput(kMask);
  Prepared prepared;
  const AttentionGeometry geometry = attentionGeometry(node);
  const int64_t keyLength = context.max(geometry.k.length), size = context.max(geometry.q.size),
                valueSize = context.max(geometry.v.size);
  const bool isBytes = node.inputs[1]->dataType() == DataType::kI8;
  if (std::max({keyLength, size, valueSize}) == DimRange::kUnbounded)
    return Prepared::no("needs an upper bound on the number of keys, to plan its workspace");
  prepared.workspaceBytes =
      context.threads *
      workerFloats({type, isBytes, keyLength, size, valueSize}, attrs.tokenWindows()) *
      static_cast<int64_t>(sizeof(float));
  for (int i = 0; i < (hasMask ? 4 : 3); ++i) prepared.inputs.push_back(StepInput::fromNode(i));
  prepared.dimArgs = attrs.keys;
  ByteWriter writer;
  Params params{.scale = static_cast<float>(attrs.scale),
                .softcap = static_cast<float>(attrs.softcap),
                .causal = attrs.causal,
                .alignEnd = attrs.alignEnd,
                .transposedKeys = attrs.transposedKeys,
                .hasMask = hasMask,
                .maskBatches = attrs.maskBatches,
                .countsKeys = !attrs.keys.empty(),
                .heads = attrs.heads,
                .kvHeads = attrs.kvHeads,
                .size = attrs.size,
                .valueSize = attrs.valueSize,
                .windows = attrs.tokenWindows()};
  std::copy(attrs.offsets.begin(), attrs.offsets.end(), params.offsets);
  writer.write(params);
  prepared.params = writer.take();
  return prepared;
}

Prepared prepareF32(const Node& node, const BuildContext& context, int64_t) {
  return prepare(std::nullopt, node, context);
}

template <Type16 kType>
Prepared prepare16(const Node& node, const BuildContext& context, int64_t) {
  return prepare(kType, node, context);
}

// A block of queries is read before its results are written in the same place.
bool inPlace(const Node& node, int input) {
  const Value* queries = node.inputs[0];
  return input == 0 && std::count(node.inputs.begin(), node.inputs.end(), queries) == 1 &&
         queries->shape() == node.output()->shape() && node.as<AttentionAttrs>().windows.empty();
}

Verdict supportsDeformable(const Node& node, const BuildContext&) {
  if (Verdict verdict = acceptsPlain(node, &ops::DeformableAttention); !verdict) return verdict;
  for (int i : {0, 3, 4})
    if (node.input(i)->dataType() != DataType::kF32) return Verdict::no("only f32");
  return Verdict::yes();
}

constexpr Kernel kKernels[] = {
    {.name = kBf16,
     .supports = supports16<Type16::kBf16>,
     .prepare = prepare16<Type16::kBf16>,
     .inPlace = inPlace},
    {.name = kF16,
     .supports = supports16<Type16::kF16>,
     .prepare = prepare16<Type16::kF16>,
     .inPlace = inPlace},
    {.name = kName, .supports = supports, .prepare = prepareF32, .inPlace = inPlace},
    {.name = kDeformable, .supports = supportsDeformable, .prepare = preparedWithout}};

}  // namespace

KernelList kernels() { return kKernels; }

}  // namespace camshaft::cpu::attention
