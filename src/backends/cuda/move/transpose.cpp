// Transposes that move the innermost dimension: through tiles in shared memory, so that reads and
// writes are both along consecutive elements, or, of a few channels, through registers.
#include <algorithm>
#include <optional>

#include "backends/cuda/families.h"
#include "backends/cuda/codegen/element_kernel.h"
#include "ops/move.h"
#include "ops/ops.h"
#include "support/text.h"

namespace camshaft::cuda::move {
namespace {

// Matrices [columns, rows] of the output, each the transpose of one [rows, columns] of the input;
// the other dimensions number the matrices.
struct TransposeProblem {
  Shape shape;               // of the output, collapsed; the last dimension is the rows
  std::vector<Dim> strides;  // of the input, by output dimension
  size_t columns = 0;        // the output dimension along which the input is consecutive
  int width = 1;             // elements that one thread reads and writes at once
  int tile() const { return 32 * width; }
  const Dim& rowCount() const { return shape.back(); }
  const Dim& columnCount() const { return shape[columns]; }
};

// 4 bytes of elements where everything is aligned to them.
int accessWidth(const TransposeProblem& problem, DataType type) {
  int width = std::max(1, 32 / bitsOf(type));
  const auto shrink = [&](const Dim& dim) {
    while (!isMultiple(dim, width)) width /= 2;
  };
  shrink(problem.rowCount());
  shrink(problem.columnCount());
  for (const Dim& stride : problem.strides)
    if (!stride.isConstant(1)) shrink(stride);
  return width;
}

std::optional<TransposeProblem> transposeProblemOf(const Node& node) {
  TransposeProblem result;
  for (const Run& run :
       runsOf(node.output()->shape(),
              transposedStrides(node.input(0)->shape(), node.as<TransposeAttrs>().order))) {
    result.shape.push_back(run.size);
    result.strides.push_back(run.stride);
  }
  if (result.shape.size() < 2 || result.strides.back().isConstant(1)) return std::nullopt;
  const auto consecutive = std::find(result.strides.begin(), result.strides.end(), Dim(1));
  if (consecutive == result.strides.end()) return std::nullopt;
  result.columns = consecutive - result.strides.begin();
  result.width = accessWidth(result, node.input(0)->dataType());
  return result;
}

bool isNarrow(const Dim& dim) { return dim.isConstant() && dim.value() < 8; }

Verdict supports(const Node& node, const BuildContext&) {
  const auto problem = transposeProblemOf(node);
  if (!problem) return Verdict::no("only where the innermost dimension moves");
  if (isNarrow(problem->rowCount()) || isNarrow(problem->columnCount()))
    return Verdict::no("tiles would be mostly empty");
  return Verdict{whyNotPrinted(node)};
}

Prepared prepare(const Node& node, const BuildContext& context, int64_t) {
  const TransposeProblem problem = *transposeProblemOf(node);
  const std::vector<Dim> outStrides = contiguousStrides(problem.shape);
  const int tile = problem.tile(), width = problem.width;
  KernelText kernel(str("transpose_", node.output()->dataType(), "_", tile, "x", tile), node,
                    context);
  printElementStore(kernel, node, width, Results::kStored);
  // Blocks count through the matrices, and through the tiles of each.
  Shape numbers;
  std::vector<Dim> from, to;
  for (size_t i = 0; i + 1 < problem.shape.size(); ++i) {
    if (i == problem.columns) continue;
    numbers.push_back(problem.shape[i]);
    from.push_back(problem.strides[i]);
    to.push_back(outStrides[i]);
  }
  const size_t matrices = numbers.size();
  numbers.insert(numbers.end(),
                 {ceilDiv(problem.columnCount(), tile), ceilDiv(problem.rowCount(), tile)});
  from.insert(from.end(), {0, 0});
  to.insert(to.end(), {0, 0});
  kernel.include("device/coordinates.cuh");
  kernel.include("move/transpose.cuh");
  kernel.body +=
      str("  const auto at = coordinatesOf(Index(blockIdx.x), ", sizesText(kernel, numbers),
          ");\n  transposeTile<", tile, ", ", width, ">({positionAt(at, ", sizesText(kernel, from),
          "), positionAt(at, ", sizesText(kernel, to), "), ", kernel.size(problem.rowCount()), ", ",
          kernel.size(problem.columnCount()), ", ", kernel.size(problem.strides.back()), ", ",
          kernel.size(outStrides[problem.columns]), "}, at[", matrices + 1, "] * ", tile, ", at[",
          matrices, "] * ", tile, ", x0, store);\n");
  return kernel.prepared({.grid = {numElements(numbers), 1, 1}, .block = 256});
}

// Images of a few channels, from planes to pixels that follow one another, or back.
struct ChannelProblem {
  Shape numbers;              // threads by the other dimensions and by pixels
  std::vector<Dim> from, to;  // strides of those, in the input and in the output
  Dim plane;                  // elements between channels where they lie in planes
  int channels = 0, pixels = 0;
  bool toPixels = false;
};

std::optional<ChannelProblem> channelProblemOf(const Node& node) {
  const auto whole = transposeProblemOf(node);
  if (!whole || isNarrow(whole->rowCount()) == isNarrow(whole->columnCount())) return std::nullopt;
  ChannelProblem result{.toPixels = isNarrow(whole->rowCount())};
  const std::vector<Dim> outStrides = contiguousStrides(whole->shape);
  const Dim &channels = result.toPixels ? whole->rowCount() : whole->columnCount(),
            &pixels = result.toPixels ? whole->columnCount() : whole->rowCount(),
            &pixelStride = result.toPixels ? outStrides[whole->columns] : whole->strides.back();
  result.plane = result.toPixels ? whole->strides.back() : outStrides[whole->columns];
  if (pixelStride != channels) return std::nullopt;
  result.channels = static_cast<int>(channels.value());
  for (size_t i = 0; i + 1 < whole->shape.size(); ++i) {
    if (i == whole->columns) continue;
    result.numbers.push_back(whole->shape[i]);
    result.from.push_back(whole->strides[i]);
    result.to.push_back(outStrides[i]);
  }
  const auto divides = [&](int width) {
    const auto isWhole = [&](const Dim& dim) { return isMultiple(dim, width); };
    return isWhole(pixels) && isWhole(result.plane) && std::ranges::all_of(result.from, isWhole);
  };
  result.pixels = divides(8) ? 8 : divides(4) ? 4 : 0;
  if (result.pixels == 0) return std::nullopt;
  result.numbers.push_back(floorDiv(pixels, result.pixels));
  result.from.push_back(result.toPixels ? result.pixels : result.pixels * result.channels);
  result.to.push_back(result.toPixels ? result.pixels * result.channels : result.pixels);
  return result;
}

Verdict supportsChannels(const Node& node, const BuildContext&) {
  if (!channelProblemOf(node))
    return Verdict::no("only between planes of two to seven channels and their pixels, in fours");
  return Verdict{whyNotPrinted(node)};
}

Prepared prepareChannels(const Node& node, const BuildContext& context, int64_t) {
  constexpr int kThreads = 256;
  const ChannelProblem problem = *channelProblemOf(node);
  KernelText kernel(
      str("transpose_", node.output()->dataType(), "_", problem.channels, "x", problem.pixels),
      node, context);
  const Dim threads = numElements(problem.numbers);
  kernel.body += str("  const Index thread = Index(blockIdx.x) * ", kThreads,
                     " + threadIdx.x;\n  if (thread >= ", kernel.size(threads), ") return;\n");
  printElementStore(kernel, node, problem.pixels, Results::kStored);
  kernel.include("device/coordinates.cuh");
  kernel.include("move/transpose.cuh");
  kernel.body += str("  const auto at = coordinatesOf(thread, ", sizesText(kernel, problem.numbers),
                     ");\n  moveChannels<", problem.pixels, ", ", problem.channels, ", ",
                     problem.toPixels, ">(x0 + positionAt(at, ", sizesText(kernel, problem.from),
                     "), ", kernel.size(problem.plane), ", positionAt(at, ",
                     sizesText(kernel, problem.to), "), store);\n");
  return kernel.prepared({.grid = {ceilDiv(threads, kThreads), 1, 1}, .block = kThreads});
}

}  // namespace

KernelList transposeKernels() {
  static const Kernel kKernels[] = {{"cuda/transpose", supports, prepare},
                                    {"cuda/transpose_channels", supportsChannels, prepareChannels},
                                    pointwise::kernels().front()};
  return kKernels;
}

}  // namespace camshaft::cuda::move
