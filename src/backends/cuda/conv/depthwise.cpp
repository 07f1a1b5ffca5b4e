#include "backends/cuda/conv/depthwise.h"

#include <algorithm>
#include <cstring>

#include "backends/cuda/codegen/in_place.h"
#include "backends/cuda/codegen/windows.h"
#include "backends/cuda/conv/convolution.h"
#include "backends/cuda/gemm_int8/operands.h"
#include "support/text.h"

namespace camshaft::cuda {
namespace {

constexpr int kThreads = 128;
constexpr size_t kMostTimed = 6;
constexpr int64_t kExactTaps = (1 << 24) / (255 * 255);  // whose products of bytes f32 adds up

// What a thread computes: `width` channels of rows x columns neighbouring places.
struct Share {
  int width = 1, rows = 1, columns = 1;
};
int64_t pack(const Share& share) { return share.width | share.rows << 8 | share.columns << 16; }
Share unpack(int64_t packed) {
  return {static_cast<int>(packed & 255), static_cast<int>(packed >> 8 & 255),
          static_cast<int>(packed >> 16)};
}

// One-dimensional images have one row.
struct Depthwise {
  Convolution conv;
  Window y, x;
  Dim height = 1, breadth, outHeight = 1, outBreadth;

  explicit Depthwise(const Node& node) : conv(node) {
    if (!conv.refusal.empty()) return;
    const size_t last = conv.spatialRank() - 1;
    x = conv.windows[last];
    breadth = conv.fromSize(last);
    outBreadth = conv.toSize(last);
    if (last == 0) return;
    y = conv.windows[0];
    height = conv.fromSize(0);
    outHeight = conv.toSize(0);
  }
  int64_t channels() const { return conv.outputs(); }
};

Verdict supports(const Node& node, const BuildContext&) {
  const Depthwise depthwise(node);
  const Convolution& conv = depthwise.conv;
  if (!conv.refusal.empty()) return Verdict::no(conv.refusal);
  const DataType type = node.inputs[0]->dataType();
  if (conv.isTransposed || !conv.layout.channelsLast) return Verdict::no("needs channels last");
  if (conv.groupInputs != 1 || conv.groupOutputs != 1)
    return Verdict::no("takes each channel by itself");
  if (conv.spatialRank() > 2) return Verdict::no("takes one or two spatial dimensions");
  if (!node.inputs[1]->isConstant()) return Verdict::no("needs constant weights");
  if (isOfIntegers(node) && conv.taps() > kExactTaps)
    return Verdict::no(str("adds up at most ", kExactTaps, " products of integers"));
  if (!isOfIntegers(node) && type != DataType::kF16 && type != DataType::kBF16 &&
      type != DataType::kF32)
    return Verdict::no(str("multiplies f16, bf16, f32 and bytes, not ", type));
  constexpr int64_t kWidestWindow = 16;
  if ((depthwise.x.kernel - 1) * depthwise.x.dilation + depthwise.x.stride > kWidestWindow)
    return Verdict::no("keeps windows of at most 16 columns in registers");
  return Verdict::yes();
}

// Cycles by a simple model: throughput of all threads, or the latency of one.
double estimate(const Share& share, const Depthwise& d, const BuildContext& context) {
  const int multiprocessors = context.target.multiprocessors;
  const auto parts = [](int64_t count, int64_t size) { return (count + size - 1) / size; };
  const double threads =
      static_cast<double>(context.opt(d.conv.from[0]) * d.channels() / share.width *
                          parts(context.opt(d.outHeight), share.rows) *
                          parts(context.opt(d.outBreadth), share.columns));
  const double windowRows = (share.rows - 1) * d.y.stride + d.y.kernel;
  const double windowColumns = (share.columns - 1) * d.x.stride + d.x.kernel;
  const double taps = static_cast<double>(d.conv.taps());
  const double loads = windowRows * windowColumns + taps * share.rows;
  const double products = taps * share.rows * share.columns * share.width;
  const double perThread = loads * (4 + share.width) + products;
  const double throughput = threads * perThread / (multiprocessors * 128.0) * 1.3;
  const double residents = std::min(16.0, threads / (32.0 * 4 * multiprocessors));  // per scheduler
  const double latency = 1000 + perThread * std::max(1.5, residents * 0.8);
  return std::max(throughput, latency);
}

std::vector<Share> sharesOf(const Node& node) {
  const Depthwise d(node);
  const int bits = bitsOf(node.inputs[0]->dataType()), widest = 128 / bits;
  std::vector<Share> shares;
  for (int width = widest; width >= 1; width /= 2) {
    if (d.channels() % width != 0) continue;
    for (int columns : {1, 2, 4, 8})
      for (int rows : {1, 2, 4}) {
        const int64_t registers = width * (rows * columns + d.x.kernel * (rows > 1 ? 2 : 1)) +
                                  width * bits / 32 * ((columns - 1) * d.x.stride + d.x.kernel);
        if (registers <= 160 && (rows == 1 || d.y.dilation == 1))
          shares.push_back({width, rows, columns});
      }
    if (width <= widest / 4) break;  // narrower ones waste the lines they read
  }
  if (shares.empty()) shares.push_back({1, 1, 1});
  return shares;
}

std::vector<int64_t> configurations(const Node& node, const BuildContext& context) {
  const Depthwise d(node);
  std::vector<Share> shares = sharesOf(node);
  std::stable_sort(shares.begin(), shares.end(), [&](const Share& a, const Share& b) {
    return estimate(a, d, context) < estimate(b, d, context);
  });
  shares.resize(std::min(shares.size(), kMostTimed));
  std::vector<int64_t> packed;
  for (const Share& share : shares) packed.push_back(pack(share));
  return packed;
}

// [kernel, channels] as f32, so that threads convert the image only.
std::vector<std::byte> packed(const HostTensor& weights, int64_t channels, int64_t taps) {
  std::vector<float> values(channels * taps);
  for (int64_t c = 0; c < channels; ++c)
    for (int64_t tap = 0; tap < taps; ++tap)
      values[tap * channels + c] =
          static_cast<float>(readElement(weights.type, weights.bytes.data(), c * taps + tap));
  std::vector<std::byte> bytes(values.size() * sizeof(float));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

// Neighbouring threads have neighbouring channels as far as a line of memory goes, then
// neighbouring places, which share weights.
int64_t lanesOf(int64_t vectors) {
  constexpr int64_t kMost = 16;
  if (vectors % 8 == 0) return 8;
  int64_t lanes = std::min(vectors, kMost);
  while (vectors % lanes != 0) --lanes;
  return lanes;
}

Prepared prepare(const Node& node, const BuildContext& context, int64_t config) {
  const Depthwise d(node);
  const Share share = unpack(config);
  const int64_t channels = d.channels(), vectors = channels / share.width, lanes = lanesOf(vectors);
  KernelText kernel(str("conv_depthwise_", node.inputs[0]->dataType(), "_", d.y.kernel, "x",
                        d.x.kernel, "_x", share.width, "_", share.rows, "x", share.columns),
                    node, context);
  kernel.input("x", 0);
  kernel.packedInput("weights", {DataType::kF32, {d.conv.taps(), channels}},
                     packed(centredWeights(node), channels, d.conv.taps()));
  if (d.conv.hasBias) kernel.input("bias", Convolution::kBias);
  const std::string zero = declareZeroPoint(kernel, node);
  declareEpilogue(kernel, node);
  kernel.output("y");
  for (const char* file : {"device/coordinates.cuh", "device/windows.cuh", "conv/depthwise.cuh"})
    kernel.include(file);

  const Dim across = ceilDiv(d.outBreadth, share.columns), down = ceilDiv(d.outHeight, share.rows);
  const Dim threads = d.conv.from[0] * Dim(vectors) * across * down;
  printPixelStore(kernel, node, share.width);
  kernel.body +=
      str("  DepthwiseWindow<", share.width, ", ", share.rows, ", ", share.columns, ", ",
          windowText(d.y), ", ", windowText(d.x), ">::run<",
          computeType(node.resultBeforeEpilogue().type), ", ", kThreads, ", ", lanes, ", ", vectors,
          ">(x, weights, ", d.conv.hasBias ? "bias" : "nullptr", ", ", zero.empty() ? "0" : zero,
          ", ", kernel.size(threads), ", {", kernel.size(down), ", ", kernel.size(across), ", ",
          kernel.size(d.height), ", ", kernel.size(d.breadth), ", ", kernel.size(d.outHeight), ", ",
          kernel.size(d.outBreadth), "}, store);\n");
  return kernel.prepared({.grid = {ceilDiv(threads, kThreads), 1, 1}, .block = kThreads});
}

}  // namespace

const Kernel& depthwiseConvKernel() {
  static constexpr Kernel kKernel{.name = "cuda/conv_depthwise",
                                  .supports = supports,
                                  .prepare = prepare,
                                  .configurations = configurations,
                                  .inPlace = isEpilogueReadInPlace};
  return kKernel;
}

}  // namespace camshaft::cuda
