#include "backends/cuda/gemm/hopper/geometry.h"

#include <algorithm>
#include <limits>

namespace camshaft::cuda {
namespace {

constexpr int64_t kStepBytes = 128;  // of a stage along K
constexpr int64_t kMomentColumns = 32;

int64_t elementBytes(const HopperProblem& problem) { return bitsOf(problem.typeA) / 8; }

int64_t divideUp(int64_t a, int64_t b) { return (a + b - 1) / b; }

// `lines` rows of A or columns of B, which lie along K or across it.
BoxedTensor boxed(const HopperProblem& problem, int64_t lines, bool isAlongK, bool hasBatch,
                  int boxLines) {
  const int64_t bytes = elementBytes(problem);
  const uint32_t stepElements = kStepBytes / bytes;
  const int64_t inner = isAlongK ? problem.k : lines, outer = isAlongK ? lines : problem.k;
  BoxedTensor tensor;
  tensor.dims[0] = inner;
  tensor.dims[1] = outer;
  tensor.dims[2] = hasBatch ? problem.batch : 1;
  tensor.strides[0] = inner * bytes;
  tensor.strides[1] = inner * outer * bytes;
  tensor.box[0] = isAlongK ? stepElements : 64;
  tensor.box[1] = isAlongK ? boxLines : stepElements;
  tensor.box[2] = 1;
  return tensor;
}

}  // namespace

BoxedTensor boxedA(const HopperConfig& config, const HopperProblem& problem) {
  return boxed(problem, problem.m, !problem.transposedA, problem.batchA,
               config.tileM / config.shareA);
}

BoxedTensor boxedB(const HopperConfig& config, const HopperProblem& problem) {
  return boxed(problem, problem.n, problem.transposedB, problem.batchB,
               config.tileN / config.shareB);
}

namespace {

BoxedTensor boxedLines(const HopperConfig& config, const HopperProblem& problem, int rows) {
  const int64_t line = problem.n * config.residualBytes;
  BoxedTensor tensor;
  tensor.dims[0] = line;
  tensor.dims[1] = problem.m;
  tensor.dims[2] = problem.batch;
  tensor.strides[0] = line;
  tensor.strides[1] = line * problem.m;
  tensor.box[0] = residualLine(config);
  tensor.box[1] = rows;
  tensor.box[2] = 1;
  return tensor;
}

}  // namespace

BoxedTensor boxedResidual(const HopperConfig& config, const HopperProblem& problem) {
  return boxedLines(config, problem, config.tileM);
}

BoxedTensor boxedResult(const HopperConfig& config, const HopperProblem& problem) {
  constexpr int kRowsOfWarp = 16;
  return boxedLines(config, problem, kRowsOfWarp);
}

HopperArguments argumentsOf(const HopperConfig& config, const HopperProblem& problem) {
  HopperArguments arguments;
  arguments.m = static_cast<int32_t>(problem.m);
  arguments.n = static_cast<int32_t>(problem.n);
  arguments.steps = static_cast<int32_t>(divideUp(problem.k * elementBytes(problem), kStepBytes));
  arguments.tilesM = static_cast<int32_t>(divideUp(problem.m, config.tileM * config.shareB));
  arguments.tilesN = static_cast<int32_t>(divideUp(problem.n, config.tileN * config.shareA));
  arguments.tiles = static_cast<int32_t>(arguments.tilesM * arguments.tilesN * problem.batch);
  arguments.batchA = problem.batchA;
  arguments.batchB = problem.batchB;
  if (problem.images.count > 0) {
    arguments.outHeight = static_cast<int32_t>(outHeight(problem.images));
    arguments.outBreadth = static_cast<int32_t>(outBreadth(problem.images));
  }
  return arguments;
}

int64_t gridOf(const HopperConfig& config, const HopperArguments& arguments,
               int64_t activeClusters) {
  const int64_t clusters =
      config.splitK > 1 ? arguments.tiles
                        : std::min<int64_t>(arguments.tiles, std::max<int64_t>(activeClusters, 1));
  return clusters * clusterSize(config);
}

const char* whyNot(const HopperConfig& config, const HopperProblem& p) {
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max() / 2;
  constexpr int64_t kPitchBytes = 16;
  if (p.m < 1 || p.n < 1 || p.k < 1 || p.batch < 1) return "has an empty operand";
  if (p.m > kMost || p.n > kMost || p.k > kMost / 4) return "is too large for 32-bit coordinates";
  if (p.images.count > 0)
    if (const char* why = whyNot(p.images, p.typeA)) return why;
  const int64_t bytes = elementBytes(p);
  if ((p.transposedA ? p.m : p.k) * bytes % kPitchBytes != 0)
    return "needs rows of the first operand that are a multiple of 16 bytes";
  if ((p.transposedB ? p.k : p.n) * bytes % kPitchBytes != 0)
    return "needs rows of the second operand that are a multiple of 16 bytes";
  if (config.residualTiles > 0 && p.n * config.residualBytes % kPitchBytes != 0)
    return "needs rows of the residual that are a multiple of 16 bytes";
  if ((config.normalises && p.k % kMomentColumns != 0) ||
      (p.keepsMoments && p.n % kMomentColumns != 0))
    return "knows the moments of rows of a multiple of 32 elements";
  if (p.keepsMoments && config.tileN % kMomentColumns != 0)
    return "finds the moments of 32 columns at a time";
  if (divideUp(p.k * bytes, kStepBytes) < config.splitK)
    return "splits K into more parts than it has";
  if (divideUp(p.m, config.tileM) * divideUp(p.n, config.tileN) > kMost / p.batch / 16)
    return "has too many tiles";
  return nullptr;
}

}  // namespace camshaft::cuda
