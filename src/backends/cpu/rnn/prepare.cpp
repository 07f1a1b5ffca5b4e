#include <algorithm>
#include <limits>

#include "backend/kernel.h"
#include "backends/cpu/families.h"
#include "backends/cpu/gemm/packed_weights.h"
#include "backends/cpu/gemm/prepare_epilogue.h"
#include "backends/cpu/gemm/weights_in_f32.h"
#include "backends/cpu/rnn/params.h"
#include "backends/cpu/rnn/partition.h"
#include "backends/cpu/rnn/weights.h"
#include "ops/activation.h"
#include "ops/rnn.h"

namespace camshaft::cpu::rnn {
namespace {

enum NodeInputs : int {
  kNodeX,
  kNodeW,
  kNodeR,
  kNodeBias,
  kNodeLengths,
  kNodeH,
  kNodeC,
  kNodePeepholes
};

Verdict supports(const Node& node, const BuildContext&) {
  if (node.epilogue) return Verdict::no("takes no epilogue");
  for (int i : {kNodeX, kNodeW, kNodeR, kNodeBias, kNodeH, kNodeC, kNodePeepholes})
    if (node.hasInput(i) && node.inputs[i]->dataType() != DataType::kF32)
      return Verdict::no(str("computes in f32, not ", node.inputs[i]->dataType()));
  return Verdict::yes();
}

Function functionOf(const camshaft::Activation& activation) {
  static constexpr std::string_view kNames[] = {
      // in the order of FunctionKind
      "Sigmoid",    "Tanh",        "Relu", "Affine",   "LeakyRelu", "ThresholdedRelu",
      "ScaledTanh", "HardSigmoid", "Elu",  "Softsign", "Softplus"};
  static_assert(std::size(kNames) == static_cast<size_t>(FunctionKind::kCount));
  const auto found = std::ranges::find(kNames, activation.name);
  CAMSHAFT_CHECK(found != std::end(kNames), "no function for ", activation.name);
  return {static_cast<FunctionKind>(found - kNames), static_cast<float>(activation.alpha),
          static_cast<float>(activation.beta)};
}

Params paramsOf(const Node& node) {
  const auto& attrs = node.as<RecurrentAttrs>();
  Params p;
  p.inputs = node.inputs[kNodeW]->shape()[2].value();
  p.hidden = attrs.hidden;
  p.directions = static_cast<int32_t>(directionsOf(attrs));
  p.kind = static_cast<CellKind>(attrs.kind);
  for (int64_t d = 0; d < p.directions; ++d)
    std::ranges::transform(activationsOf(attrs, d, describe(node)), p.functions[d], functionOf);
  p.clip = attrs.clip > 0 ? attrs.clip : std::numeric_limits<double>::infinity();
  p.reverse = attrs.direction == RecurrentDirection::kReverse;
  p.linearBeforeReset = attrs.linearBeforeReset;
  p.inputForget = attrs.inputForget;
  p.batchFirst = attrs.batchFirst;
  return p;
}

bool hasConstantWeights(const Node& node) {
  const auto isConstant = [&](int i) { return !node.hasInput(i) || node.inputs[i]->isConstant(); };
  return isConstant(kNodeW) && isConstant(kNodeR) && isConstant(kNodeBias) &&
         isConstant(kNodePeepholes);
}

StepInput packWeights(const Node& node, const Params& p) {
  std::vector<WeightsInF32> constants;
  const auto floats = [&](int i) {
    return node.hasInput(i) ? constants.emplace_back(node, i).data() : nullptr;
  };
  const RawWeights raw{floats(kNodeW), floats(kNodeR), floats(kNodeBias), floats(kNodePeepholes)};
  const int64_t perDirection = PackedLayout(p).floats;
  return packedInput(p.directions * perDirection, [&](float* packed) {
    for (int64_t d = 0; d < p.directions; ++d) packDirection(p, raw, d, packed + d * perDirection);
  });
}

Prepared prepare(const Node& node, const BuildContext& context, int64_t) {
  Params p = paramsOf(node);
  Prepared prepared;
  const int64_t batch = context.max(node.inputs[kNodeX]->shape()[p.batchFirst ? 0 : 1]);
  if (batch == DimRange::kUnbounded)
    return Prepared::no("needs an upper bound on the batch, to plan its workspace");
  const auto add = [&](StepInput input) {
    prepared.inputs.push_back(std::move(input));
    return static_cast<int32_t>(prepared.inputs.size()) - 1;
  };
  const auto addNodeInput = [&](int i) {
    return node.hasInput(i) ? add(StepInput::fromNode(i)) : -1;
  };
  p.operands.x = addNodeInput(kNodeX);
  if (hasConstantWeights(node)) {
    p.operands.packed = add(packWeights(node, p));
  } else {
    p.operands.w = addNodeInput(kNodeW);
    p.operands.r = addNodeInput(kNodeR);
    p.operands.bias = addNodeInput(kNodeBias);
    p.operands.peepholes = addNodeInput(kNodePeepholes);
  }
  p.operands.lengths = addNodeInput(kNodeLengths);
  p.operands.initialH = addNodeInput(kNodeH);
  p.operands.initialC = addNodeInput(kNodeC);
  prepared.workspaceBytes =
      workspaceFloatsFor(p, batch, context.threads) * static_cast<int64_t>(sizeof(float));
  ByteWriter writer;
  writeIsa(writer);
  writer.write(p);
  prepared.params = writer.take();
  return prepared;
}

constexpr Kernel kKernels[] = {{.name = kName, .supports = supports, .prepare = prepare}};

}  // namespace

KernelList kernels() { return kKernels; }

}  // namespace camshaft::cpu::rnn
