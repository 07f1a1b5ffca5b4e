#include "backends/cuda/conv/direct.h"

#include "backends/cuda/codegen/in_place.h"
#include "backends/cuda/conv/convolution.h"
#include "support/text.h"

namespace camshaft::cuda {
namespace {

constexpr int kThreads = 128;

// A thread computes `width` channels of one place. Indices in device code: n, c, p0, p1, ... of the
// result and n, channel, i0, i1, ... of the input.
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

  std::vector<WalkPart> parts(std::string_view channel, std::string_view spatialName) const {
    std::vector<std::string> names;
    for (size_t i = 0; i < conv.spatialRank(); ++i) names.push_back(str(spatialName, i));
    names = conv.layout.assemble<std::string>("n", std::string(channel), names);
    std::vector<WalkPart> parts;
    for (size_t i = 0; i < names.size(); ++i) parts.push_back({names[i], {i}});
    return parts;
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
std::vector<std::byte> packed(const Value& weights, const Convolution& conv) {
  const int64_t outputs = conv.groupOutputs, inputs = conv.groupInputs, taps = conv.taps();
  return packedWeights(weights, conv.groups * taps * inputs * outputs, [&](int64_t i) {
    const int64_t m = i % outputs, c = i / outputs % inputs, tap = i / outputs / inputs % taps,
                  group = i / outputs / inputs / taps;
    return conv.isTransposed ? ((group * inputs + c) * outputs + m) * taps + tap
                             : ((group * outputs + m) * inputs + c) * taps + tap;
  });
}

// The place's coordinates and first channel from the thread's number.
void printCoordinates(KernelText& kernel, const Direct& direct, const Dim& threads) {
  const std::vector<WalkPart> parts = direct.parts("c", "p");
  kernel.body += str("  Index rest = Index(blockIdx.x) * ", kThreads,
                     " + threadIdx.x;\n  if (rest >= ", kernel.size(threads), ") return;\n");
  for (size_t i = parts.size(); i-- > 1;) {
    const bool isChannel = static_cast<int64_t>(i) == direct.conv.layout.channelAxis();
    const std::string size =
        kernel.size(isChannel ? floorDiv(direct.conv.to[i], direct.width) : direct.conv.to[i]);
    kernel.body +=
        str(isChannel ? "  Index " : "  const Index ", parts[i].index, " = rest % ", size,
            isChannel ? str(" * ", direct.width) : "", ";\n  rest /= ", size, ";\n");
  }
  kernel.body += "  const Index n = rest;\n";
}

// Loops over the kernel; inside them i0, i1, ... are the input's place and `tap` numbers the tap.
// Returns how many braces they open.
int printTaps(KernelText& kernel, const Direct& direct) {
  std::string tap = "0";
  for (size_t i = 0; i < direct.conv.spatialRank(); ++i) {
    const Window& window = direct.conv.windows[i];
    const std::string size = kernel.size(direct.conv.fromSize(i)), k = str("k", i),
                      at = str("i", i);
    kernel.body += str("#pragma unroll 1\n  for (int ", k, " = 0; ", k, " < ", window.kernel,
                       "; ++", k, ") {\n");
    if (direct.conv.isTransposed)
      kernel.body += str("    const Index reach", i, " = p", i, " + ", window.padBegin, " - ", k,
                         " * ", window.dilation, ";\n    if (reach", i, " < 0 || reach", i, " % ",
                         window.stride, " != 0) continue;\n    const Index ", at, " = reach", i,
                         " / ", window.stride, ";\n    if (", at, " >= ", size, ") continue;\n");
    else
      kernel.body += str("    const Index ", at, " = p", i, " * ", window.stride, " - ",
                         window.padBegin, " + ", k, " * ", window.dilation, ";\n    if (", at,
                         " < 0 || ", at, " >= ", size, ") continue;\n");
    tap = i == 0 ? k : str("(", tap, ") * ", window.kernel, " + ", k);
  }
  kernel.body += str("    const int tap = ", tap, ";\n");
  return static_cast<int>(direct.conv.spatialRank());
}

Verdict supports(const Node& node) {
  const Convolution conv(node);
  return conv.refusal.empty() ? Verdict::yes() : Verdict::no(conv.refusal);
}

void printSums(KernelText& kernel, const Node& node, const Direct& direct) {
  const Convolution& conv = direct.conv;
  const std::string_view sum = computeType(node.resultBeforeEpilogue().type);
  kernel.body +=
      str("  ", sum, " sums[", direct.width, "];\n#pragma unroll\n  for (int r = 0; r < ",
          direct.width, "; ++r) sums[r] = ",
          node.hasInput(2) ? str(sum, "(toCompute(bias[c + r]))") : str(sum, "(0)"),
          ";\n  const Index group = c / ", conv.groupOutputs,
          ";\n  const auto* const own = weights + group * ", direct.groupStride(), " + c % ",
          conv.groupOutputs, " * ", direct.outputStride(), ";\n");
  const int braces = printTaps(kernel, direct);
  Walk image(kernel, conv.from, direct.parts("channel", "i"));
  const std::vector<Dim> strides = contiguousStrides(conv.from);
  kernel.body += str("    const Index channel = group * ", conv.groupInputs,
                     ";\n    const auto* const place = x + (", image.position(strides),
                     ");\n    const auto* const factors = own + tap * ", direct.tapStride(),
                     ";\n#pragma unroll 4\n    for (int i = 0; i < ", conv.groupInputs,
                     "; ++i) {\n"
                     "      const ",
                     sum, " value = ", sum, "(toCompute(place[i * ",
                     kernel.size(strides[conv.layout.channelAxis()]),
                     "]));\n#pragma unroll\n      for (int r = 0; r < ", direct.width,
                     "; ++r)\n        sums[r] += value * ", sum, "(toCompute(factors[i * ",
                     direct.inputStride(), " + r * ", direct.outputStride(), "]));\n    }\n  ",
                     std::string(braces, '}'), "\n");
}

Prepared prepare(const Node& node, const PrepareOptions& options) {
  const Direct direct(node);
  const Value& weights = *node.inputs[1];
  const std::string_view sum = computeType(node.resultBeforeEpilogue().type);
  KernelText kernel(str(direct.conv.isTransposed ? "conv_transpose_direct_" : "conv_direct_",
                        node.inputs[0]->dataType(), "_x", direct.width),
                    node, options);
  kernel.input("x", 0);
  if (direct.isPacked)
    kernel.packedInput("weights", weights.type, packed(weights, direct.conv));
  else
    kernel.input("weights", 1);
  if (node.hasInput(2)) kernel.input("bias", 2);
  declareEpilogue(kernel, node);
  kernel.output("y");
  const Dim threads = floorDiv(numElements(direct.conv.to), direct.width);
  printCoordinates(kernel, direct, threads);
  printSums(kernel, node, direct);
  const bool channelsLast = direct.conv.layout.channelsLast;
  const std::vector<WalkPart> parts = direct.parts("c", "p");
  const std::string last = parts.back().index;
  Walk results(kernel, direct.conv.to, parts);
  printStore(kernel, node, results, last, channelsLast ? direct.width : 1);
  if (channelsLast)
    kernel.body += "  store(c, sums);\n";
  else
    kernel.body +=
        str("#pragma unroll\n  for (int r = 0; r < ", direct.width, "; ++r, ++c) {\n    const ",
            sum, " results[1] = {sums[r]};\n    store(", last, ", results);\n  }\n");
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
