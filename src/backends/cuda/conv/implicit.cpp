#include "backends/cuda/conv/implicit.h"

#include "backends/cuda/codegen/in_place.h"
#include "backends/cuda/codegen/windows.h"
#include "backends/cuda/conv/convolution.h"
#include "backends/cuda/gemm/mma_config.h"
#include "support/text.h"

namespace camshaft::cuda {
namespace {

constexpr size_t kMostTimed = 8;
constexpr int kBias = 2;

int64_t roundUp(int64_t value, int64_t unit) { return (value + unit - 1) / unit * unit; }

// Rows are places of the result, columns its channels. One-dimensional images have one row.
struct Implicit {
  Convolution conv;
  Window y, x;
  Dim height = 1, breadth, outHeight = 1, outBreadth;
  bool hasRuns = false;  // the few channels of a window's row are read as one run (RunSource)
  std::string refusal;

  explicit Implicit(const Node& node) : conv(node) {
    refusal = whyNot(node);
    if (!refusal.empty()) return;
    const size_t last = conv.spatialRank() - 1;
    x = conv.windows[last];
    breadth = conv.fromSize(last);
    outBreadth = conv.toSize(last);
    hasRuns = conv.groupInputs % 8 != 0;
    if (hasRuns && (conv.groups > 1 || x.dilation > 1))
      refusal = "needs groups of a multiple of 8 channels";
    if (last == 0) return;
    y = conv.windows[0];
    height = conv.fromSize(0);
    outHeight = conv.toSize(0);
  }

  std::string whyNot(const Node& node) const {
    if (!conv.refusal.empty()) return conv.refusal;
    const DataType type = node.inputs[0]->dataType();
    if (conv.isTransposed || !conv.layout.channelsLast) return "needs channels last";
    if (type != DataType::kF16 && type != DataType::kBF16)
      return str("multiplies f16 and bf16, not ", type);
    if (conv.spatialRank() > 2) return "takes one or two spatial dimensions";
    if (!node.inputs[1]->isConstant()) return "needs constant weights";
    if (conv.groups > 1 && conv.groupOutputs < 16) return "has too few channels in a group";
    return {};
  }

  // Channels that k counts through before it goes on to the next tap.
  int64_t block() const { return conv.groupInputs % 64 == 0 ? 64 : conv.groupInputs; }
  int64_t run() const { return hasRuns ? roundUp(x.kernel * conv.groupInputs, 8) : 0; }
  int64_t depth() const { return hasRuns ? y.kernel * run() : conv.taps() * conv.groupInputs; }
  int64_t pitch() const { return roundUp(depth(), 64); }  // of packed weights: whole steps
  Dim rows() const { return conv.to[0] * outHeight * outBreadth; }
};

Verdict supports(const Node& node, const BuildContext& context) {
  if (!hasMma(context.target)) return Verdict::no("needs a GPU of compute capability 8.0");
  const Implicit implicit(node);
  return Verdict{implicit.refusal};
}

// Sizes not known before the profile count as typical ones here.
std::vector<int64_t> configurations(const Node& node, const BuildContext& context) {
  constexpr int64_t kTypicalSide = 28;
  const Implicit i(node);
  const auto side = [](const Dim& dim) { return dim.isConstant() ? dim.value() : kTypicalSide; };
  MmaProblem problem{.columns = i.conv.groupOutputs, .depth = i.depth(), .batch = i.conv.groups};
  const int64_t places = side(i.outHeight) * side(i.outBreadth);
  std::vector<int64_t> packed;
  if (i.conv.to[0].isConstant()) {
    problem.rows = i.conv.to[0].value() * places;
    appendPromising(packed, problem, context.target, kMostTimed);
  } else {
    for (int64_t batch : {1, 32}) {
      problem.rows = batch * places;
      appendPromising(packed, problem, context.target, kMostTimed / 2);
    }
  }
  return packed;
}

// [outputs, pitch], k in the order of the device code's sources.
std::vector<std::byte> packed(const Value& weights, const Implicit& i) {
  const int64_t pitch = i.pitch(), inputs = i.conv.groupInputs, taps = i.conv.taps();
  return packedWeights(weights, i.conv.outputs() * pitch, [&](int64_t at) -> int64_t {
    const int64_t m = at / pitch, k = at % pitch;
    if (k >= i.depth()) return -1;
    int64_t tap = k / i.block() % taps, c = k / i.block() / taps * i.block() + k % i.block();
    if (i.hasRuns) {
      const int64_t within = k % i.run();
      if (within >= i.x.kernel * inputs) return -1;
      tap = k / i.run() * i.x.kernel + within / inputs;
      c = within % inputs;
    }
    return (m * inputs + c) * taps + tap;
  });
}

// The windows and channels of the image, as the device code's sources name them.
std::string geometryText(const Implicit& i) {
  return str("using Geometry = mma::ImageGeometry<", windowText(i.y), ", ", windowText(i.x), ", ",
             i.conv.groupInputs, ", ", i.block(), ", ", i.conv.inputs(), ">;\n");
}

Prepared prepare(const Node& node, const BuildContext& context, int64_t config) {
  const Implicit i(node);
  const MmaConfig tile = unpackMma(config);
  const DataType type = node.inputs[0]->dataType();
  const int width = vectorWidth(type, {i.conv.groupOutputs});
  KernelText kernel(str("conv_mma_", type, "_", i.y.kernel, "x", i.x.kernel, "_", toString(tile)),
                    node, context);
  kernel.input("x", 0);
  kernel.packedInput("weights", {type, {i.conv.outputs(), i.pitch()}}, packed(*node.inputs[1], i));
  if (node.hasInput(kBias)) kernel.input("bias", kBias);
  declareEpilogue(kernel, node);
  kernel.output("y");
  for (const char* file : {"device/coordinates.cuh", "device/windows.cuh", "device/mma.cuh",
                           "gemm/mma.cuh", "conv/implicit.cuh"})
    kernel.include(file);
  kernel.functions += geometryText(i);

  const Dim tilesM = ceilDiv(i.rows(), tile.rows);
  const int64_t tilesN = (i.conv.groupOutputs + tile.columns - 1) / tile.columns;
  const int64_t steps = (i.depth() + tile.depth - 1) / tile.depth;
  printTile(kernel, tile, type, tilesN, tilesM, str(steps));
  kernel.early +=
      str("  mma::MatrixSource<Tile, Tile::kColumns, true> b(weights + tile.item * ",
          i.conv.groupOutputs * i.pitch(), ", ", i.pitch(), ", ", i.pitch(), ", tile.column, ",
          i.conv.groupOutputs,
          ", tile.first);\n  product.begin(mma::sharedAddress(memory), b, tile.steps);\n");
  kernel.body +=
      str("  mma::", i.hasRuns ? "RunSource" : "ImageSource", "<Tile, Geometry> a(x + tile.item * ",
          i.conv.groupInputs, ", {", kernel.size(i.height), ", ", kernel.size(i.breadth), ", ",
          kernel.size(i.outHeight), ", ", kernel.size(i.outBreadth), "}, tile.row, ",
          kernel.size(i.rows()),
          ", tile.first);\n  product.add(mma::sharedAddress(memory), a, b, tile.steps);\n");
  printPixelStore(kernel, node, width);
  kernel.body +=
      str("  storePixels<", width, ", ", i.conv.groupOutputs, ">(product, memory, tile, ",
          kernel.size(i.rows()), ", ", node.hasInput(kBias) ? "bias" : "nullptr", ", store);\n");
  return kernel.prepared({.grid = {tilesM * Dim(tilesN * i.conv.groups * tile.splits), 1, 1},
                          .block = tile.threads(),
                          .sharedBytes = tile.sharedBytes(),
                          .cluster = tile.splits});
}

}  // namespace

const Kernel& implicitConvKernel() {
  static constexpr Kernel kKernel{.name = "cuda/conv_mma",
                                  .supports = supports,
                                  .prepare = prepare,
                                  .configurations = configurations,
                                  .inPlace = isEpilogueReadInPlace};
  return kKernel;
}

}  // namespace camshaft::cuda
