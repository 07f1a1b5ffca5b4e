#include "backends/cuda/conv/direct.h"

#include "backends/cuda/codegen/in_place.h"
#include "backends/cuda/codegen/windows.h"
#include "backends/cuda/conv/convolution.h"
#include "backends/cuda/gemm_int8/operands.h"
#include "support/text.h"

namespace camshaft::cuda {
namespace {

constexpr int kThreads = 128;

// A thread computes `width` channels of one place.
struct Direct {
  Convolution conv;
  int width = 1;
  bool isPacked =
      false;  // constant weights lie as [kernel, inputs, outputs], outputs of a tap together

  explicit Direct(const Node& node) : conv(node) {
    constexpr int kMostWidth = 4;
    while (width < kMostWidth && conv.groupOutputs % (2 * width) == 0) width *= 2;
    isPacked = node.inputs[1]->isConstant();
  }

  // Strides of the weights in elements.
  int64_t outputStride() const {
    return isPacked ? 1 : (conv.isTransposed ? 1 : conv.groupInputs) * conv.taps();
  }
  int64_t inputStride() const {
    if (isPacked) return conv.groupOutputs;
    return (conv.isTransposed ? conv.groupOutputs : 1) * conv.taps();
  }
  int64_t tapStride() const { return isPacked ? conv.groupInputs * conv.groupOutputs : 1; }
  int64_t groupStride() const { return conv.groupInputs * conv.groupOutputs * conv.taps(); }
};

// Weights lie as [group, kernel, inputs, outputs].
std::vector<std::byte> packed(const HostTensor& weights, const Convolution& conv) {
  const int64_t outputs = conv.groupOutputs, inputs = conv.groupInputs, taps = conv.taps();
  return packedWeights(weights, conv.groups * taps * inputs * outputs, [&](int64_t i) {
    const int64_t m = i % outputs, c = i / outputs % inputs, tap = i / outputs / inputs % taps,
                  group = i / outputs / inputs / taps;
    return conv.isTransposed ? ((group * inputs + c) * outputs + m) * taps + tap
                             : ((group * outputs + m) * inputs + c) * taps + tap;
  });
}

Verdict supports(const Node& node, const BuildContext&) {
  const Convolution conv(node);
  return Verdict{conv.refusal};
}

void printConstants(KernelText& kernel, const Direct& direct) {
  const Convolution& conv = direct.conv;
  kernel.constant("kWidth", direct.width);
  kernel.constant("kTransposed", conv.isTransposed);
  kernel.constant("kChannelAxis", conv.layout.channelAxis());
  kernel.constant("kSpatialAxis", conv.layout.spatialAxis(0));
  kernel.constant("kGroupInputs", conv.groupInputs);
  kernel.constant("kGroupOutputs", conv.groupOutputs);
  kernel.constant("kGroupStride", direct.groupStride());
  kernel.constant("kTapStride", direct.tapStride());
  kernel.constant("kInputStride", direct.inputStride());
  kernel.constant("kOutputStride", direct.outputStride());
}

// Prints store(c, results), where `at` is the place and c its first channel.
int printResultStore(KernelText& kernel, const Node& node, const Direct& direct) {
  std::vector<std::string> names;
  for (size_t i = 0; i < direct.conv.to.size(); ++i) names.push_back(str("at[", i, "]"));
  names[direct.conv.layout.channelAxis()] = "c";
  Walk results(kernel, direct.conv.to, partPerAxis(names));
  const int width = direct.conv.layout.channelsLast ? direct.width : 1;
  printStore(kernel, node, results, "Index c", width);
  return width;
}

Prepared prepare(const Node& node, const BuildContext& context, int64_t) {
  const Direct direct(node);
  const Convolution& conv = direct.conv;
  KernelText kernel(str(conv.isTransposed ? "conv_transpose_direct_" : "conv_direct_",
                        node.inputs[0]->dataType(), "_x", direct.width),
                    node, context);
  kernel.input("x", 0);
  if (direct.isPacked) {
    kernel.packedInput("weights", {centredType(node), node.inputs[1]->shape()},
                       [&node] { return packed(centredWeights(node), Convolution(node)); });
  } else {
    kernel.input("weights", 1);
  }
  if (conv.hasBias) kernel.input("bias", Convolution::kBias);
  const std::string zero = declareZeroPoint(kernel, node);
  declareEpilogue(kernel, node);
  kernel.output("y");
  printConstants(kernel, direct);
  printWindows(kernel, conv.windows);
  kernel.include("conv/direct.cuh");
  Shape view = conv.to;
  Dim& channels = view[conv.layout.channelAxis()];
  channels = floorDiv(channels, direct.width);
  const Dim threads = numElements(view);
  const std::vector<Dim> strides = contiguousStrides(conv.from);
  const auto spatial = [&](const std::vector<Dim>& all) {
    return sizesText(kernel, conv.layout.spatial(all));
  };
  kernel.body +=
      str("  const Index thread = Index(blockIdx.x) * ", kThreads,
          " + threadIdx.x;\n  if (thread >= ", kernel.size(threads),
          ") return;\n  const auto at = coordinatesOf(thread, ", sizesText(kernel, view), ");\n");
  const int stored = printResultStore(kernel, node, direct);
  kernel.body += str("  convolveDirectly<", stored, ", ",
                     computeType(node.resultBeforeEpilogue().type), ">(Image{}, x, weights, ",
                     conv.hasBias ? "bias" : "nullptr", ", ", zero.empty() ? "0" : zero, ", at, ",
                     spatial(conv.from), ", ", spatial(strides), ", ", kernel.size(strides[0]),
                     ", ", kernel.size(strides[conv.layout.channelAxis()]), ", store);\n");
  return kernel.prepared({.grid = {ceilDiv(threads, kThreads), 1, 1}, .block = kThreads});
}

}  // namespace

const Kernel& directConvKernel() {
  static constexpr Kernel kKernel{.name = "cuda/conv_direct",
                                  .supports = supports,
                                  .prepare = prepare,
                                  .inPlace = isEpilogueReadInPlace};
  return kKernel;
}

}  // namespace camshaft::cuda
