#include <algorithm>

#include "backend/kernel.h"
#include "backends/cpu/families.h"
#include "backends/cpu/gemm/fused_epilogue.h"
#include "backends/cpu/gemm/packed_weights.h"
#include "backends/cpu/rnn/params.h"
#include "ops/activation.h"
#include "ops/rnn.h"

namespace camshaft::cpu::rnn {
namespace {

// Inputs of the operator.
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

bool hasDefaultActivations(const RecurrentAttrs& attrs) {
  if (attrs.activations.empty()) return true;
  const std::string one = attrs.kind == RecurrentKind::kLstm ? "Sigmoid,Tanh,Tanh" : "Sigmoid,Tanh";
  return attrs.activations == (directionsOf(attrs) == 2 ? one + "," + one : one);
}

template <RecurrentKind kKind>
Verdict supports(const Node& node) {
  const auto& attrs = node.as<RecurrentAttrs>();
  if (attrs.kind != kKind) return Verdict::no("is for another kind of recurrent layer");
  if (node.epilogue) return Verdict::no("takes no epilogue");
  if (node.inputs[kNodeX]->dataType() != DataType::kF32)
    return Verdict::no(str("computes in f32, not ", node.inputs[kNodeX]->dataType()));
  if (attrs.batchFirst) return Verdict::no("needs time steps before the batch");
  if (attrs.clip != 0) return Verdict::no("does not clip");
  if (attrs.inputForget) return Verdict::no("does not couple input and forget gates");
  if (!hasDefaultActivations(attrs)) return Verdict::no("has the default activations only");
  if (node.hasInput(kNodeLengths)) return Verdict::no("has sequences of equal length only");
  if (node.hasInput(kNodePeepholes)) return Verdict::no("has no peepholes");
  for (int i : {kNodeW, kNodeR, kNodeBias})
    if (node.hasInput(i) && !node.inputs[i]->isConstant())
      return Verdict::no("needs constant weights, to pack them when building");
  return Verdict::yes();
}

Params paramsOf(const Node& node) {
  const auto& attrs = node.as<RecurrentAttrs>();
  Params p;
  p.inputs = node.inputs[kNodeW]->shape()[2].value();
  p.hidden = attrs.hidden;
  p.gates = gatesOf(attrs.kind);
  p.directions = directionsOf(attrs);
  p.reverse = attrs.direction == RecurrentDirection::kReverse;
  p.linearBeforeReset = attrs.linearBeforeReset;
  return p;
}

std::vector<float> packInputWeights(const Params& p, const float* w) {
  std::vector<float> packed(p.directions * packedInputFloats(p));
  for (int64_t d = 0; d < p.directions; ++d)
    packB(p.inputs, p.width(), w + d * p.width() * p.inputs, p.inputs, true,
          packed.data() + d * packedInputFloats(p));
  return packed;
}

std::vector<float> packRecurrentWeights(const Params& p, const float* r) {
  std::vector<float> packed(p.directions * packedRecurrentFloats(p));
  for (int64_t d = 0; d < p.directions; ++d) {
    const float* from = r + d * p.width() * p.hidden;
    float* to = packed.data() + d * packedRecurrentFloats(p);
    packB(p.hidden, p.earlyWidth(), from, p.hidden, true, to);
    packB(p.hidden, p.lateWidth(), from + p.earlyWidth() * p.hidden, p.hidden, true,
          to + packedBFloats(p.hidden, p.earlyWidth()));
  }
  return packed;
}

struct Biases {
  std::vector<float> early, late;
};

// The layer's bias is [directions][input's gates, state's gates]. They add up, but for the state's
// part of h that GRU resets after adding it.
Biases biasesOf(const Params& p, const Value* value) {
  Biases biases{std::vector<float>(p.directions * p.width()),
                std::vector<float>(p.directions * p.hidden)};
  if (!value) return biases;
  const float* all = value->view().as<float>();
  for (int64_t d = 0; d < p.directions; ++d) {
    const float *ofInput = all + d * 2 * p.width(), *ofState = ofInput + p.width();
    for (int64_t i = 0; i < p.width(); ++i) {
      const bool late = p.gates == 3 && p.linearBeforeReset && i >= p.earlyWidth();
      biases.early[d * p.width() + i] = ofInput[i] + (late ? 0.0f : ofState[i]);
      if (late) biases.late[d * p.hidden + i - p.earlyWidth()] = ofState[i];
    }
  }
  return biases;
}

Prepared prepare(const Node& node, const PrepareOptions& options) {
  Params p = paramsOf(node);
  Prepared prepared;
  const Shape& x = node.inputs[kNodeX]->shape();
  const int64_t steps = options.max(x[0]), batch = options.max(x[1]);
  if (std::max(steps, batch) == DimRange::kUnbounded) {
    prepared.refusal = "needs an upper bound on time steps and batch, to plan its workspace";
    return prepared;
  }
  prepared.workspaceBytes =
      workspaceFloatsFor(p, steps, batch) * static_cast<int64_t>(sizeof(float));
  const Biases biases = biasesOf(p, node.input(kNodeBias));
  prepared.inputs = {StepInput::fromNode(kNodeX),
                     packedInput(packInputWeights(p, node.inputs[kNodeW]->view().as<float>())),
                     packedInput(packRecurrentWeights(p, node.inputs[kNodeR]->view().as<float>())),
                     packedInput(biases.early), packedInput(biases.late)};
  const auto addState = [&](int input) {
    if (!node.hasInput(input)) return -1;
    prepared.inputs.push_back(StepInput::fromNode(input));
    return static_cast<int>(prepared.inputs.size()) - 1;
  };
  p.initialH = addState(kNodeH);
  p.initialC = addState(kNodeC);
  ByteWriter writer;
  writeIsa(writer);
  writer.write(p);
  prepared.params = writer.take();
  return prepared;
}

constexpr Kernel kKernels[] = {
    {.name = kLstmName, .supports = supports<RecurrentKind::kLstm>, .prepare = prepare},
    {.name = kGruName, .supports = supports<RecurrentKind::kGru>, .prepare = prepare},
};

}  // namespace

KernelList kernels() { return kKernels; }

}  // namespace camshaft::cpu::rnn
