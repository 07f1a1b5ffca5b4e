#include <algorithm>

#include "backend/kernel.h"
#include "backends/cpu/conv/params.h"
#include "backends/cpu/families.h"
#include "backends/cpu/gemm/packed_weights.h"
#include "backends/cpu/gemm/prepare16.h"
#include "backends/cpu/gemm/prepare_epilogue.h"
#include "backends/cpu/gemm/weights_in_f32.h"
#include "ops/conv.h"

namespace camshaft::cpu::conv {
namespace {

constexpr int kBias = 2;

// What both directions need; `A` is ConvAttrs or ConvTransposeAttrs.
template <class A>
Verdict supportsOperands(const Node& node) {
  const auto& attrs = node.as<A>();
  const Value &x = *node.inputs[0], &weights = *node.inputs[1];
  if (x.dataType() != weights.dataType() ||
      (x.dataType() != DataType::kF32 && x.dataType() != DataType::kBF16))
    return Verdict::no(str("convolves f32 and bf16, not ", x.dataType()));
  if (!attrs.channelsLast) return Verdict::no("needs channels last");
  if (x.rank() != 3 && x.rank() != 4)
    return Verdict::no(str("has one or two spatial dimensions, not ", x.rank() - 2));
  if (!weights.isConstant())
    return Verdict::no("needs constant weights, to pack them when building");
  if (numElements(node.input(1)->shape()).isConstant(0))
    return Verdict::no("needs weights, and there are none");
  const auto isNegative = [](int64_t pad) { return pad < 0; };
  if (std::any_of(attrs.padsBegin.begin(), attrs.padsBegin.end(), isNegative) ||
      std::any_of(attrs.padsEnd.begin(), attrs.padsEnd.end(), isNegative))
    return Verdict::no("cannot crop by negative padding");
  return Verdict::yes();
}

Verdict supportsEpilogue(const Node& node) {
  const FusedEpilogue fused = fuseEpilogue(node, kBias);
  return Verdict{fused.refusal};
}

// Without the channels.
template <class A>
ConvShape windowOf(const Node& node) {
  const auto& attrs = node.as<A>();
  const Shape& weights = node.inputs[1]->shape();
  const int spatial = static_cast<int>(weights.size()) - 2;
  ConvShape shape;
  shape.groups = attrs.groups;
  for (int i = 0; i < spatial; ++i) {
    const int axis = 2 - spatial + i;
    shape.kernel[axis] = weights[i + 2].value();
    shape.stride[axis] = attrs.strides[i];
    shape.dilation[axis] = attrs.dilations[i];
    shape.padBegin[axis] = attrs.padsBegin[i];
    shape.padEnd[axis] = attrs.padsEnd[i];
  }
  return shape;
}

ConvShape convShape(const Node& node) {
  ConvShape shape = windowOf<ConvAttrs>(node);
  const Shape& weights = node.inputs[1]->shape();
  shape.outChannels = weights[0].value();
  shape.inChannels = weights[1].value() * shape.groups;
  return shape;
}

ConvShape transposeShape(const Node& node) {
  ConvShape shape = windowOf<ConvTransposeAttrs>(node);
  const Shape& weights = node.inputs[1]->shape();
  shape.inChannels = weights[0].value();
  shape.outChannels = weights[1].value() * shape.groups;
  return shape;
}

bool isBf16(const Node& node) { return node.inputs[0]->dataType() == DataType::kBF16; }

// The largest image of the profile; one larger than any block of work where it has no bound.
ConvExtent largestExtent(const Node& node, const ConvShape& shape, const BuildContext& context) {
  constexpr int64_t kBeyondBlocks = 1 << 14;
  const Shape& x = node.inputs[0]->shape();
  const auto most = [&](const Dim& size) {
    const int64_t bound = context.max(size);
    return bound == DimRange::kUnbounded ? kBeyondBlocks : bound;
  };
  return {.batch = most(x[0]),
          .height = x.size() == 4 ? most(x[1]) : 1,
          .width = most(x[x.size() - 2]),
          .inPixelStride = shape.inChannels,
          .outPixelStride = shape.outChannels,
          .isBf16 = isBf16(node)};
}

bool hasBound(const Node& node, const BuildContext& context) {
  const Shape& x = node.inputs[0]->shape();
  return std::all_of(x.begin(), x.end(),
                     [&](const Dim& size) { return context.max(size) != DimRange::kUnbounded; });
}

constexpr char kNeedsBound[] = "needs an upper bound on the image's size, to plan its workspace";

Prepared prepared(const Node& node, const ConvShape& shape, StepInput packed,
                  const Dim& workspaceFloats) {
  Prepared result;
  result.inputs.push_back(StepInput::fromNode(0));
  result.inputs.push_back(std::move(packed));
  result.workspaceBytes = workspaceFloats * static_cast<int64_t>(sizeof(float));
  ByteWriter writer;
  writeIsa(writer);
  writer.write(shape);
  writeEpilogue(fuseEpilogue(node, kBias), result, writer);
  result.params = writer.take();
  return result;
}

// What convSupports() asks for, by ConvAlgorithm.
constexpr const char* kNeeds[] = {
    "",
    "needs one channel per group",
    "needs groups of 1, 2, 4, 8 or at least 16 output channels and, if under 16, no more inputs",
    "needs a 3x3 kernel, stride 1, no dilation and one group",
    "needs one group and a CPU with bf16 tiles (AMX)",
    "needs one group, bf16, and many channels or patches of at most 4096 values",
    "needs one group, a CPU with f16 vectors, and many channels or patches of at most 4096 values"};

template <ConvAlgorithm kAlgorithm>
Verdict supportsConv(const Node& node, const BuildContext& context) {
  if (node.op != &ops::Conv) return Verdict::no("is for Conv");
  if (const Verdict verdict = supportsOperands<ConvAttrs>(node); !verdict) return verdict;
  const ConvShape shape = convShape(node);
  if (!convSupports(kAlgorithm, shape)) return Verdict::no(kNeeds[static_cast<int>(kAlgorithm)]);
  if (kAlgorithm == ConvAlgorithm::kGemm && shape.groups > 1 &&
      std::max(shape.inChannels, shape.outChannels) == shape.groups)
    return Verdict::no(
        "would multiply by matrices of one column, which the depthwise kernel avoids");
  // The transforms cost more than the products they save.
  if (kAlgorithm == ConvAlgorithm::kWinograd && std::min(shape.inChannels, shape.outChannels) < 16)
    return Verdict::no("pays off from 16 channels on");
  if (isBf16(node) && !convTakesBf16(kAlgorithm)) return Verdict::no("convolves f32");
  if (Verdict verdict = supportsEpilogue(node); !verdict) return verdict;
  if (kAlgorithm == ConvAlgorithm::kBf16) return mayRoundTo16(Type16::kBf16, node, context);
  if (kAlgorithm == ConvAlgorithm::kF16) return mayRoundTo16(Type16::kF16, node, context);
  return Verdict::yes();
}

template <ConvAlgorithm kAlgorithm>
Prepared prepareConv(const Node& node, const BuildContext& context, int64_t) {
  const ConvShape shape = convShape(node);
  const ConvExtent largest = largestExtent(node, shape, context);
  if (kAlgorithm == ConvAlgorithm::kSplit) {
    if (!hasBound(node, context)) return Prepared::no(kNeedsBound);
    if (!context.allowTf32)
      return Prepared::no("splits f32 into bf16 pairs, and the build does not allow TF32");
    // It gathers and splits the whole image at once; beyond the caches that only costs memory.
    constexpr int64_t kMostFloats = 16 << 20;
    if (convWorkspaceFloats(kAlgorithm, shape, largest, context.threads) > kMostFloats)
      return Prepared::no("would need more than 64 MiB of workspace");
  }
  StepInput packed = packedInput(packedConvFloats(kAlgorithm, shape), [&](float* to) {
    packConv(kAlgorithm, shape, WeightsInF32(node, 1).data(), to);
  });
  return prepared(node, shape, std::move(packed),
                  convWorkspaceFloats(kAlgorithm, shape, largest, context.threads));
}

// Whether each input pixel gives a patch of the output of its own.
bool cutsPatches(const Node& node) {
  const auto& padding = node.as<ConvTransposeAttrs>().outputPadding;
  return givesPatches(transposeShape(node)) &&
         std::all_of(padding.begin(), padding.end(), [](int64_t size) { return size == 0; });
}

template <bool k16>
Verdict supportsTranspose(const Node& node, const BuildContext& context) {
  if (node.op != &ops::ConvTranspose) return Verdict::no("is for ConvTranspose");
  if (isBf16(node) && !k16) return Verdict::no("convolves f32");
  if (const Verdict verdict = supportsOperands<ConvTransposeAttrs>(node); !verdict) return verdict;
  if (node.as<ConvTransposeAttrs>().groups != 1) return Verdict::no("has no groups");
  if (k16 && !cutsPatches(node)) return Verdict::no("needs a kernel as large as its stride");
  if (Verdict verdict = supportsEpilogue(node); !verdict) return verdict;
  return k16 ? mayRoundTo16(Type16::kBf16, node, context) : Verdict::yes();
}

// [inChannels][outChannels][taps] to [inChannels][taps][outChannels], then packed.
StepInput packTranspose(const ConvShape& shape, const float* weights, bool is16) {
  const int64_t taps = shape.kernel[0] * shape.kernel[1], columns = scatteredColumns(shape);
  std::vector<float> byTap(shape.inChannels * columns);
  for (int64_t in = 0; in < shape.inChannels; ++in)
    for (int64_t out = 0; out < shape.outChannels; ++out)
      for (int64_t tap = 0; tap < taps; ++tap)
        byTap[in * columns + tap * shape.outChannels + out] =
            weights[(in * shape.outChannels + out) * taps + tap];
  if (is16)
    return packedInput(packedB16Floats(Type16::kBf16, shape.inChannels, columns), [&](float* to) {
      packB16(Type16::kBf16, shape.inChannels, columns, byTap.data(), columns, false,
              reinterpret_cast<uint16_t*>(to));
    });
  return packedInput(packedBFloats(shape.inChannels, columns), [&](float* to) {
    packB(shape.inChannels, columns, byTap.data(), columns, false, to);
  });
}

template <bool k16>
Prepared prepareTranspose(const Node& node, const BuildContext& context, int64_t) {
  const ConvShape shape = transposeShape(node);
  const Shape& x = node.inputs[0]->shape();
  const Dim width = x[x.size() - 2];
  const Dim pixels = x.size() == 4 ? x[1] * width : width;
  const Dim floats = cutsPatches(node)
                         ? (width + kRows16) * (floatsPerPixel(shape, k16) * context.threads)
                         : pixels * scatteredColumns(shape);
  return prepared(node, shape, packTranspose(shape, WeightsInF32(node, 1).data(), k16), floats);
}

bool inPlace(const Node& node, int input) { return overwritesResidual(node, input, kBias); }

template <ConvAlgorithm kAlgorithm>
constexpr Kernel entry() {
  return {.name = kNames[static_cast<int>(kAlgorithm)],
          .supports = supportsConv<kAlgorithm>,
          .prepare = prepareConv<kAlgorithm>,
          .inPlace = inPlace};
}

constexpr Kernel kKernels[] = {
    entry<ConvAlgorithm::kDepthwise>(),
    entry<ConvAlgorithm::kGrouped>(),
    entry<ConvAlgorithm::kBf16>(),
    entry<ConvAlgorithm::kF16>(),
    entry<ConvAlgorithm::kWinograd>(),
    entry<ConvAlgorithm::kGemm>(),
    entry<ConvAlgorithm::kSplit>(),
    // Adds up its taps in the output, so nothing may be there before.
    {.name = kTranspose16Name,
     .supports = supportsTranspose<true>,
     .prepare = prepareTranspose<true>},
    {.name = kTransposeName,
     .supports = supportsTranspose<false>,
     .prepare = prepareTranspose<false>},
};

}  // namespace

KernelList kernels() { return kKernels; }

}  // namespace camshaft::cpu::conv
