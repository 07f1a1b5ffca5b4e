#include "backends/cuda/conv/stem.h"

#include <algorithm>
#include <numeric>

#include "backends/cuda/codegen/in_place.h"
#include "backends/cuda/codegen/windows.h"
#include "backends/cuda/conv/mma_convolution.h"
#include "backends/cuda/gemm/mma_config.h"
#include "backends/cuda/gemm_int8/operands.h"
#include "support/text.h"

namespace camshaft::cuda {
namespace {

int64_t roundUp(int64_t value, int64_t unit) { return (value + unit - 1) / unit * unit; }

// Places that a block computes, and how many tiles of 16 a warp has of them.
struct StripShape {
  int rows, breadth, tiles;
  int threads() const { return rows * breadth / 16 / tiles * 32; }
};
constexpr StripShape kShapes[] = {{8, 16, 2},  {16, 16, 2}, {4, 32, 2},  {8, 32, 2},
                                  {4, 16, 1},  {8, 16, 1},  {16, 16, 4}, {8, 32, 4},
                                  {1, 128, 2}, {1, 256, 2}, {1, 64, 1}};

// The convolution as the device code sees it: see stem::Strip.
struct Stem : MmaConvolution {
  Stem(const Node& node, const BuildTarget& target) : MmaConvolution(node, target) {
    if (!refusal.empty()) return;
    if (conv.groups > 1)
      refusal = "takes one group";
    else if (channelBytes() >= 16 && channelBytes() % 4 == 0)
      refusal = "takes few channels";  // others are read pixel by pixel
    else if (x.dilation > 1)
      refusal = "needs windows whose rows are neighbours in memory";
    else if (steps() > kMostSteps)
      refusal = "has too large windows";
  }

  // Words of four bytes of a window's row, and steps of the tensor cores along all of them.
  int64_t run() const { return (x.kernel * channelBytes() + 3) / 4; }
  int64_t steps() const { return (y.kernel * run() + 7) / 8; }

  // Channels that a block computes.
  int64_t columns() const {
    constexpr int64_t kMostColumns = 64;
    const int64_t blocks = (conv.outputs() + kMostColumns - 1) / kMostColumns;
    return roundUp((conv.outputs() + blocks - 1) / blocks, 16);
  }
  int64_t columnBlocks() const { return (conv.outputs() + columns() - 1) / columns(); }
  // Neighbouring channels that a thread computes at a time.
  int width(DataType type) const {
    return std::gcd(vectorWidth(type, {conv.outputs()}, kMostComputed),
                    static_cast<int>(columns() / 4));
  }
  int64_t weightBytes() const { return steps() * columns() * 32; }

  int64_t placeBytes() const { return x.stride * channelBytes(); }
  int64_t copies() const { return 4 / std::gcd(placeBytes(), int64_t{4}); }
  int64_t pitch(const StripShape& shape) const {
    return roundUp((shape.breadth - 1) * placeBytes(), 4) + 4 * run();
  }
  // Lanes read from all copies at once: these begin in different banks. The last step may go on
  // for a few words after a window.
  int64_t copyBytes(const StripShape& shape) const {
    constexpr int64_t kBanks = 128, kLastWords = 12;
    const int64_t rows = (shape.rows - 1) * y.stride + y.extent();
    return roundUp(rows * pitch(shape) + kLastWords, kBanks) +
           (copies() > 1 ? kBanks / copies() : 0);
  }
  int64_t sharedBytes(const StripShape& shape) const {
    return weightBytes() + copies() * copyBytes(shape);
  }

 private:
  static constexpr int64_t kMostSteps = 40;  // which are all printed one after another
};

std::vector<int64_t> fittingShapes(const Stem& stem, const BuildTarget& target) {
  constexpr int64_t kMostSums = 64;          // that a thread holds
  constexpr int64_t kMostBytes = 100 << 10;  // two blocks fit a multiprocessor
  std::vector<int64_t> fitting;
  for (const StripShape& shape : kShapes)
    if ((shape.rows == 1) == stem.outHeight.isConstant(1) &&
        shape.tiles * stem.columns() / 2 <= kMostSums &&
        stem.sharedBytes(shape) <= std::min(kMostBytes, target.sharedBytesPerBlock))
      fitting.push_back(&shape - kShapes);
  return fitting;
}

Verdict supports(const Node& node, const BuildContext& context) {
  const Stem stem(node, context.target);
  if (stem.refusal.empty() && fittingShapes(stem, context.target).empty())
    return Verdict::no("needs more shared memory than there is");
  return Verdict{stem.refusal};
}

std::vector<int64_t> configurations(const Node& node, const BuildContext& context) {
  return fittingShapes(Stem(node, context.target), context.target);
}

// As the lanes of a warp read them: [block of columns, step, pair of 8 columns, lane, which of the
// pair, half of the step, bytes of a word]. A lane's results are of neighbouring channels: see
// stem::Product::finish().
std::vector<std::byte> packed(const HostTensor& weights, const Stem& s, int64_t width) {
  const int64_t elements = 4 / s.elementBytes, inputs = s.conv.groupInputs;
  const int64_t count = s.columnBlocks() * s.weightBytes() / s.elementBytes;
  return packedWeights(weights, count, [&](int64_t at) -> int64_t {
    const auto next = [&](int64_t size) {
      const int64_t index = at % size;
      at /= size;
      return index;
    };
    const int64_t element = next(elements), half = next(2), ofPair = next(2), lane = next(32),
                  pair = next(s.columns() / 16), step = next(s.steps());
    const int64_t own = (pair * 2 + ofPair) * 2 + lane / 4 % 2;  // of the results of a lane
    const int64_t m = at * s.columns() + own / width * 4 * width + lane / 8 * width + own % width;
    const int64_t word = step * 8 + half * 4 + lane % 4, kernelY = word / s.run(),
                  within = word % s.run() * elements + element;
    if (m >= s.conv.outputs() || kernelY >= s.y.kernel || within >= s.x.kernel * inputs) return -1;
    const int64_t tap = kernelY * s.x.kernel + within / inputs;
    return (m * inputs + within % inputs) * s.conv.taps() + tap;
  });
}

// Declares what is added to the results of a column, and gives its text.
std::string declareTerm(KernelText& kernel, const Node& node, const Stem& stem,
                        const HostTensor& weights, const std::string& zero) {
  if (!zero.empty()) {
    declareRowSums(kernel, "row_sums", weights.type, weights.bytes, stem.conv.outputs());
    return str("mma::ZeroTerm{", zero, ", row_sums}");
  }
  if (!stem.conv.hasBias) return "mma::NoTerm{}";
  kernel.input("bias", Convolution::kBias);
  return str("mma::BiasTerm<", storageType(node.inputs[Convolution::kBias]->dataType()), ">{bias}");
}

Prepared prepare(const Node& node, const BuildContext& context, int64_t config) {
  const Stem s(node, context.target);
  const StripShape& shape = kShapes[config];
  const DataType type = node.inputs[0]->dataType();
  const int width = s.width(type);
  KernelText kernel(str("conv_stem_", s.y.kernel, "x", s.x.kernel, "_", type, "_", shape.rows, "x",
                        shape.breadth, "x", s.columns(), "_", shape.tiles),
                    node, context);
  kernel.input("x", 0);
  const HostTensor weights = centredWeights(node);
  const std::string zero = declareZeroPoint(kernel, node);
  const std::string term = declareTerm(kernel, node, s, weights, zero);
  const Dim elements = s.columnBlocks() * s.weightBytes() / s.elementBytes;
  kernel.packedInput("weights", {weights.type, {elements}}, packed(weights, s, width));
  declareEpilogue(kernel, node);
  kernel.output("y");
  for (const char* file : {"device/coordinates.cuh", "device/windows.cuh", "device/mma.cuh",
                           "gemm/mma.cuh", "conv/stem.cuh"})
    kernel.include(file);
  kernel.functions +=
      str("using Strip = stem::Strip<", storageType(type), ", ", storageType(weights.type), ", ",
          windowText(s.y), ", ", windowText(s.x), ", ", s.conv.groupInputs, ", ", shape.rows, ", ",
          shape.breadth, ", ", s.columns(), ", ", shape.tiles, ", ", s.run(), ", ", s.pitch(shape),
          ", ", s.copyBytes(shape), ">;\n");

  const Dim tilesX = ceilDiv(s.outBreadth, shape.breadth),
            tilesY = ceilDiv(s.outHeight, shape.rows);
  kernel.early +=
      str("  extern __shared__ __align__(128) char memory[];\n"
          "  const stem::StripPlace<Strip> place(",
          s.columnBlocks(), ", ", kernel.size(tilesX), ", ", kernel.size(tilesY),
          ");\n  stem::copyWeights<Strip>(memory, weights, place.column);\n");
  kernel.body +=
      str("  const stem::ImageSizes sizes{", kernel.size(s.height), ", ", kernel.size(s.breadth),
          ", ", kernel.size(s.outHeight), ", ", kernel.size(s.outBreadth),
          "};\n  stem::fillStrip<Strip>(memory + Strip::kWeightBytes, x, sizes, ",
          kernel.size(s.conv.to[0]), ", place, 0x01010101u * (0xff & (", zero.empty() ? "0" : zero,
          ")));\n  attention::waitForCopies<0>();\n  __syncthreads();\n"
          "  const stem::Product<Strip> product(memory + Strip::kWeightBytes, memory);\n");
  printPixelStore(kernel, node, width);
  kernel.body += str("  product.template finish<", width, ", ", s.conv.outputs(),
                     ">(place, sizes, ", term, ", store);\n");
  return kernel.prepared({.grid = {s.conv.to[0] * tilesY * tilesX * Dim(s.columnBlocks()), 1, 1},
                          .block = shape.threads(),
                          .sharedBytes = static_cast<int>(s.sharedBytes(shape))});
}

}  // namespace

const Kernel& stemConvKernel() {
  static constexpr Kernel kKernel{.name = "cuda/conv_stem",
                                  .supports = supports,
                                  .prepare = prepare,
                                  .configurations = configurations,
                                  .inPlace = isEpilogueReadInPlace};
  return kKernel;
}

}  // namespace camshaft::cuda
