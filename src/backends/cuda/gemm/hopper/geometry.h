// How a matrix product of given sizes is laid over a configuration of the Hopper kernel: tiles,
// grid, and the boxes in which A and B are copied. Both halves of the backend.
#pragma once

#include <cstddef>
#include <cstdint>

#include "backends/cuda/gemm/hopper/images.h"

namespace camshaft::cuda {

// D[m, n] = A[m, k] · B[k, n], for each item of a batch.
struct HopperProblem {
  int64_t m = 1, n = 1, k = 1, batch = 1;
  bool batchA = false, batchB = false;                      // a matrix per item; else one for all
  DataType typeA = DataType::kF16, typeB = DataType::kF16;  // of one size
  bool transposedA = false;                                 // A lies as [k, m]
  bool transposedB = true;                                  // B lies as [n, k]
  double epilogueWork = 0;    // instructions per element, to choose a configuration by
  HopperImages images = {};   // whose windows are A's rows, where there are any
  int residualBytes = 0;      // of an element of an operand that tiles are fetched of; 0: none
  bool normalises = false;    // rows of A
  bool keepsMoments = false;  // of rows of D
};

// A tensor of three dimensions, innermost first, and the part of it that one copy takes.
struct BoxedTensor {
  uint64_t dims[3] = {};
  uint64_t strides[2] = {};  // bytes, of the second and third dimension
  uint32_t box[3] = {};
};

// GemmParams of the device code.
struct HopperArguments {
  void* out = nullptr;
  const void* extra[8] = {};
  int32_t m = 0, n = 0, steps = 0;
  int32_t tilesM = 0, tilesN = 0, tiles = 0;
  int32_t batchA = 0, batchB = 0;
  int32_t outHeight = 1, outBreadth = 1;  // places of an image, where A has windows of images
  float numbers[16] = {};                 // of a quantised model, for the epilogue
  float *means = nullptr, *factors = nullptr, *moments = nullptr;
};
// The same where tiles of a residual are fetched. A CUtensorMap is of the same bytes, but lies
// where the version of cuda.h says, and not the device code.
struct TiledArguments {
  struct alignas(64) Map {
    uint64_t words[16] = {};
  };
  HopperArguments arguments;
  Map residual, out;
};
static_assert(offsetof(TiledArguments, residual) == 256 && sizeof(TiledArguments) == 512);

// A where it is a matrix.
BoxedTensor boxedA(const HopperConfig& config, const HopperProblem& problem);
BoxedTensor boxedB(const HopperConfig& config, const HopperProblem& problem);
// The residual and D, as bytes, whose boxes go to and from residualLine() of a tile.
BoxedTensor boxedResidual(const HopperConfig& config, const HopperProblem& problem);
BoxedTensor boxedResult(const HopperConfig& config, const HopperProblem& problem);
HopperArguments argumentsOf(const HopperConfig& config, const HopperProblem& problem);
// Blocks, when the device can run `activeClusters` clusters at once.
int64_t gridOf(const HopperConfig& config, const HopperArguments& arguments,
               int64_t activeClusters);

// Why the sizes cannot be run in this configuration; null when they can.
const char* whyNot(const HopperConfig& config, const HopperProblem& problem);

}  // namespace camshaft::cuda
