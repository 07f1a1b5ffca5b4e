#include "backends/cuda/conv/implicit.h"

#include "backends/cuda/codegen/in_place.h"
#include "backends/cuda/codegen/windows.h"
#include "backends/cuda/conv/hopper_windows.h"
#include "backends/cuda/conv/mma_convolution.h"
#include "backends/cuda/conv/pixels.h"
#include "backends/cuda/gemm/mma_config.h"
#include "backends/cuda/gemm_int8/operands.h"
#include "support/text.h"

namespace camshaft::cuda {
namespace {

constexpr size_t kMostTimed = 8;
constexpr int64_t kChunkBytes = 16;

int64_t roundUp(int64_t value, int64_t unit) { return (value + unit - 1) / unit * unit; }

struct Implicit : MmaConvolution {
  bool hasRuns = false;  // the few channels of a window's row are read as one run (RunSource)

  Implicit(const Node& node, const BuildTarget& target) : MmaConvolution(node, target) {
    if (!refusal.empty()) return;
    hasRuns = channelBytes() < kChunkBytes || channelBytes() % 4 != 0;
    if (conv.groups > 1 && conv.groupOutputs < 16)
      refusal = "has too few channels in a group";
    else if (hasRuns && (conv.groups > 1 || x.dilation > 1))
      refusal = "needs groups of 16 bytes of channels at least, in whole words";
  }

  // Bytes that are copied at a time: pixels and groups begin at a multiple of them.
  int64_t part() const { return channelBytes() % 16 == 0 ? 16 : channelBytes() % 8 == 0 ? 8 : 4; }
  // Channels that k counts through before it goes on to the next tap, in whole chunks.
  int64_t block() const {
    constexpr int64_t kBlockBytes = 128;
    return channelBytes() % kBlockBytes == 0 ? kBlockBytes / elementBytes
                                             : roundUp(conv.groupInputs, chunk());
  }
  int64_t chunk() const { return kChunkBytes / elementBytes; }
  int64_t blocks() const { return (conv.groupInputs + block() - 1) / block(); }
  int64_t run() const { return hasRuns ? roundUp(x.kernel * conv.groupInputs, chunk()) : 0; }
  int64_t depth() const { return hasRuns ? y.kernel * run() : conv.taps() * blocks() * block(); }
  bool isPadded() const {
    const auto mayLeave = [](const Window& w) { return w.padBegin > 0 || w.padEnd > 0; };
    return mayLeave(x) || mayLeave(y);
  }
  Dim rows() const { return conv.to[0] * outHeight * outBreadth; }
};

Verdict supports(const Node& node, const BuildContext& context) {
  return Verdict{Implicit(node, context.target).refusal};
}

// Hopper's own products win as a rule, and lose by little where they do not fill it.
bool hasHopperProduct(const Node& node, const BuildContext& context) {
  return hopperPixelKernel().supports(node, context) || hopperConvKernel().supports(node, context);
}

std::vector<int64_t> configurations(const Node& node, const BuildContext& context) {
  const Implicit i(node, context.target);
  const MmaProblem problem{.rows = context.opt(i.rows()),
                           .columns = i.conv.groupOutputs,
                           .depth = i.depth(),
                           .batch = i.conv.groups,
                           .type = node.inputs[0]->dataType()};
  const bool isRival = hasHopperProduct(node, context);
  std::vector<int64_t> packed;
  if (!isRival || !fillsHopper(problem, context.target))
    appendPromising(packed, problem, context.target, isRival ? kMostTimed / 4 : kMostTimed);
  return packed;
}

// [outputs, pitch], k in the order of the device code's sources.
std::vector<std::byte> packed(const HostTensor& weights, const Implicit& i, int64_t pitch) {
  const int64_t inputs = i.conv.groupInputs, taps = i.conv.taps();
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
    return c < inputs ? (m * inputs + c) * taps + tap : -1;
  });
}

// The windows and channels of the image, as the device code's sources name them.
std::string geometryText(const Implicit& i, bool fills) {
  return str("using Geometry = mma::ImageGeometry<", windowText(i.y), ", ", windowText(i.x), ", ",
             i.conv.groupInputs, ", ", i.block(), ", ", i.conv.inputs(), ", ", i.part(), ", ",
             fills, ">;\n");
}

Prepared prepare(const Node& node, const BuildContext& context, int64_t config) {
  const Implicit i(node, context.target);
  const MmaConfig tile = unpackMma(config);
  const DataType type = node.inputs[0]->dataType();
  const int width = vectorWidth(type, {i.conv.groupOutputs}, kMostComputed);
  KernelText kernel(str("conv_mma_", i.y.kernel, "x", i.x.kernel, "_", toString(tile, type)), node,
                    context);
  kernel.input("x", 0);
  const DataType weightsType = centredType(node);
  const int64_t pitch = mmaPitch(i.depth(), weightsType);
  const auto packRows = [&node, target = context.target, pitch] {
    return packed(centredWeights(node), Implicit(node, target), pitch);
  };
  std::string term = "mma::NoTerm{}";
  if (i.conv.hasBias) {
    kernel.input("bias", Convolution::kBias);
    term =
        str("mma::BiasTerm<", storageType(node.inputs[Convolution::kBias]->dataType()), ">{bias}");
  }
  const std::string zero = declareZeroPoint(kernel, node);
  if (!zero.empty()) {
    declareRowSums(kernel, "row_sums", weightsType, packRows(), i.conv.outputs());
    term = str("mma::ZeroTerm{", zero, ", row_sums}");
  }
  kernel.packedInput("weights", {weightsType, {i.conv.outputs(), pitch}}, packRows);
  declareEpilogue(kernel, node);
  kernel.output("y");
  for (const char* file : {"device/coordinates.cuh", "device/windows.cuh", "device/mma.cuh",
                           "gemm/mma.cuh", "conv/implicit.cuh"})
    kernel.include(file);
  kernel.functions += geometryText(i, !zero.empty() && i.isPadded());

  const Dim tilesM = ceilDiv(i.rows(), tile.rows);
  const int64_t tilesN = (i.conv.groupOutputs + tile.columns - 1) / tile.columns;
  const int64_t steps = (i.depth() + tile.depth(type) - 1) / tile.depth(type);
  printTile(kernel, tile, type, weightsType, tilesN, tilesM, str(steps));
  kernel.early += str(
      "  mma::MatrixSource<Tile, Tile::B, Tile::kColumns, true> b(weights + tile.item * ",
      i.conv.groupOutputs * pitch, ", ", pitch, ", ", pitch, ", tile.column, ", i.conv.groupOutputs,
      ", tile.first);\n  product.begin(mma::sharedAddress(memory), b, tile.steps);\n");
  kernel.body +=
      str("  mma::", i.hasRuns ? "RunSource" : "ImageSource", "<Tile, Geometry> a(x + tile.item * ",
          i.conv.groupInputs, ", {", kernel.size(i.height), ", ", kernel.size(i.breadth), ", ",
          kernel.size(i.outHeight), ", ", kernel.size(i.outBreadth), "}, 0x01010101u * (0xff & (",
          zero.empty() ? "0" : zero, ")), tile.row, ", kernel.size(i.rows()),
          ", tile.first);\n  product.add(mma::sharedAddress(memory), a, b, tile.steps);\n");
  printPixelStore(kernel, node, width);
  kernel.body +=
      str("  product.template finish<", width, ">(memory, tile, ", kernel.size(i.rows()), ", ",
          i.conv.groupOutputs, ", tile.item * ", i.conv.groupOutputs, ", ", term, ", store);\n");
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
