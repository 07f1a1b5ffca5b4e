#include "backends/cuda/conv/cudnn_conv.h"

#include <algorithm>
#include <cstring>

#include "backends/cuda/conv/depthwise.h"
#include "backends/cuda/libraries/epilogue_graph.h"
#include "backends/cuda/libraries/plan_memo.h"
#include "ops/conv.h"
#include "support/half.h"

namespace camshaft::cuda {
namespace {

constexpr int kBias = 2;

// How the operand lies against the result, or null when it is repeated in another way, or only the
// run knows.
std::optional<EpilogueTensor> tensorOf(const Value& operand, const Shape& result,
                                       bool channelsLast) {
  const size_t rank = result.size(), missing = rank - operand.shape().size();
  const auto has = [&](size_t axis) {
    return axis >= missing && operand.shape()[axis - missing] == result[axis];
  };
  for (size_t i = missing; i < rank; ++i)
    if (!has(i) && !operand.shape()[i - missing].isConstant(1)) return std::nullopt;
  const size_t channels = channelsLast ? rank - 1 : 1, firstSpatial = channelsLast ? 1 : 2;
  EpilogueTensor tensor{operand.dataType(), has(0), has(channels), has(firstSpatial)};
  for (size_t i = 1; i < rank - 2; ++i)
    if (has(firstSpatial + i) != tensor.hasSpatial) return std::nullopt;
  return tensor;
}

// A Conv node as cuDNN sees it; batch and image are left to the profile.
struct Convolution {
  ConvProblem problem;
  std::string refusal;  // why it cannot be; empty: it can
};

// cuDNN has more engines for a bias of the result's type; a wider one is rounded like the result.
DataType biasTypeOf(const Node& node, const ConvProblem& problem) {
  const DataType own = node.inputs[kBias]->dataType();
  return own == DataType::kF32 && isFloat(problem.outputType) ? problem.outputType : own;
}

void setEpilogue(const Node& node, Convolution& conv) {
  ConvProblem& p = conv.problem;
  std::vector<EpilogueTensor> tensors;
  for (size_t i = node.ownInputs(); i < node.inputs.size(); ++i) {
    const auto tensor = tensorOf(*node.inputs[i], node.output()->shape(), p.channelsLast);
    if (!tensor) {
      conv.refusal =
          "repeats an operand of its epilogue along some dimensions only, or not before "
          "the sizes are known";
      return;
    }
    tensors.push_back(*tensor);
  }
  if (node.epilogue) {
    TranslatedEpilogue translated = translateEpilogue(node.epilogue->expr, tensors);
    conv.refusal = std::move(translated.refusal);
    p.epilogue = std::move(translated.epilogue);
  }
  if (node.hasInput(kBias)) addBias(p.epilogue, biasTypeOf(node, p));
}

Convolution convolutionOf(const Node& node) {
  Convolution conv;
  ConvProblem& p = conv.problem;
  const auto& attrs = node.as<ConvAttrs>();
  const Shape& weights = node.inputs[1]->shape();
  p.inputType = node.inputs[0]->dataType();
  p.outputType = node.output()->dataType();
  p.channelsLast = attrs.channelsLast;
  p.groups = attrs.groups;
  p.outChannels = weights[0].value();
  p.inChannels = weights[1].value() * attrs.groups;
  for (size_t i = 2; i < weights.size(); ++i) p.kernel.push_back(weights[i].value());
  p.strides = attrs.strides;
  p.dilations = attrs.dilations;
  p.padsBegin = attrs.padsBegin;
  p.padsEnd = attrs.padsEnd;
  setEpilogue(node, conv);
  return conv;
}

template <class SizeOf>
ConvProblem problemAt(const Convolution& conv, const Node& node, const SizeOf& sizeOf) {
  ConvProblem problem = conv.problem;
  const Shape& x = node.inputs[0]->shape();
  problem.batch = sizeOf(x[0]);
  const size_t first = problem.channelsLast ? 1 : 2;
  for (size_t i = 0; i < problem.kernel.size(); ++i) problem.image.push_back(sizeOf(x[first + i]));
  return problem;
}

Verdict supports(const Node& node, const BuildContext& context) {
  if (node.op != &ops::Conv) return Verdict::no("is for Conv");
  if (!context.allowCudnn) return Verdict::no("the build leaves out cuDNN");
  if (depthwiseConvKernel().supports(node, context))
    return Verdict::no("leaves depthwise ones to our own");
  if (!node.inputs[1]->isConstant())
    return Verdict::no("needs constant weights, to pack them when building");
  if (node.hasInput(kBias) && !node.inputs[kBias]->isConstant())
    return Verdict::no("needs a constant bias");
  const Convolution conv = convolutionOf(node);
  if (!conv.refusal.empty()) return Verdict::no(conv.refusal);
  // Sizes of the profile are looked at when the node is prepared.
  constexpr int64_t kAnySize = 1024;
  return Verdict{refusal(problemAt(
      conv, node, [](const Dim& dim) { return dim.isConstant() ? dim.value() : kAnySize; }))};
}

// [K, C/groups, kernel...] to [K, kernel..., C/groups].
std::vector<std::byte> channelsLastWeights(const Value& weights) {
  const Shape& shape = weights.shape();
  const int64_t filters = shape[0].value(), channels = shape[1].value();
  int64_t taps = 1;
  for (size_t i = 2; i < shape.size(); ++i) taps *= shape[i].value();
  const int64_t size = bitsOf(weights.dataType()) / 8;
  const auto* from = static_cast<const std::byte*>(weights.view().data);
  std::vector<std::byte> packed(filters * channels * taps * size);
  std::byte* to = packed.data();
  for (int64_t filter = 0; filter < filters; ++filter)
    for (int64_t tap = 0; tap < taps; ++tap)
      for (int64_t channel = 0; channel < channels; ++channel, to += size)
        std::memcpy(to, from + ((filter * channels + channel) * taps + tap) * size, size);
  return packed;
}

StepInput weightsOf(const Node& node, const ConvProblem& problem) {
  if (!problem.channelsLast) return StepInput::fromNode(1);
  Shape shape = {problem.outChannels};
  for (const int64_t size : problem.kernel) shape.push_back(size);
  shape.push_back(problem.inChannels / problem.groups);
  return StepInput::fromPacking({problem.inputType, shape},
                                [&node] { return channelsLastWeights(*node.inputs[1]); });
}

template <class To>
std::vector<std::byte> rounded(const float* values, int64_t count) {
  std::vector<std::byte> bytes(count * sizeof(To));
  auto* to = reinterpret_cast<To*>(bytes.data());
  for (int64_t i = 0; i < count; ++i) to[i] = To(values[i]);
  return bytes;
}

StepInput biasOf(const Node& node, const ConvProblem& problem) {
  const Value& bias = *node.inputs[kBias];
  const DataType type = biasTypeOf(node, problem);
  if (bias.dataType() == type) return StepInput::fromNode(kBias);
  const auto* values = static_cast<const float*>(bias.view().data);
  return StepInput::fromBytes({type, {problem.outChannels}},
                              type == DataType::kF16
                                  ? rounded<Half>(values, problem.outChannels)
                                  : rounded<BFloat16>(values, problem.outChannels));
}

Prepared prepare(const Node& node, const BuildContext& context, int64_t config) {
  const ConvProblem problem = cudnnConvProblem(node, context);
  if (std::string reason = refusal(problem); !reason.empty())
    return Prepared::no(std::move(reason));
  const Shape& x = node.inputs[0]->shape();
  const bool isDynamic =
      !std::all_of(x.begin(), x.end(), [](const Dim& dim) { return dim.isConstant(); });
  Prepared prepared =
      preparedFor(planOf(context.target, problem, config).get(), kConvKernel, isDynamic, context);
  if (!prepared.verdict) return prepared;
  prepared.inputs = {StepInput::fromNode(0), weightsOf(node, problem)};
  for (size_t i = node.ownInputs(); i < node.inputs.size(); ++i)
    prepared.inputs.push_back(StepInput::fromNode(static_cast<int>(i)));
  if (node.hasInput(kBias)) prepared.inputs.push_back(biasOf(node, problem));
  return prepared;
}

// Our own matrix products compete for convolutions of single pixels, and mostly win.
std::vector<int64_t> configurations(const Node& node, const BuildContext&) {
  constexpr int kPlansOfPixels = 3;
  return planNumbers(isPixelwise(convolutionOf(node).problem) ? kPlansOfPixels : kMostLibraryPlans);
}

}  // namespace

ConvProblem cudnnConvProblem(const Node& node, const BuildContext& context) {
  ConvProblem problem = problemAt(convolutionOf(node), node, context.opt);
  problem.allowTf32 = context.allowTf32;
  problem.workspaceLimit = std::min(problem.workspaceLimit, context.workspaceLimit);
  return problem;
}

const Kernel& cudnnConvKernel() {
  static constexpr Kernel kKernel{.name = kConvKernel,
                                  .supports = supports,
                                  .prepare = prepare,
                                  .configurations = configurations,
                                  .usualConfigurations = kUsualPlans};
  return kKernel;
}

}  // namespace camshaft::cuda
