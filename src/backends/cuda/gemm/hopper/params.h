// What the two halves of the Hopper matrix product agree on.
#pragma once

#include <cstdint>

#include "backends/cuda/gemm/hopper/images.h"

namespace camshaft::cuda {

inline constexpr char kHopperGemmKernel[] = "cuda/gemm_hopper_tiles";
inline constexpr char kHopperGemmEntry[] = "gemm";  // in gemm.cuh

// The step's inputs are A, B and the operands of the epilogue; its numbers m, n, k and the batch.
// Floats for GemmParams::numbers follow. Where rows of A are windows of images, a HopperWindows is
// behind them, and the numbers go on: images, their height, breadth and channels. A product that
// normalises rows reads the moments of A's rows in front of the epilogue's operands, and has one
// output, or means and factors of rows behind it; one that keeps moments has them as its second.
struct HopperParams {
  int64_t config = 0;  // pack() of a HopperConfig
  DataType typeA = DataType::kF16, typeB = DataType::kF16;
  uint8_t transposedA = false, transposedB = true;  // numbers: a file may hold any
  uint8_t batchA = false, batchB = false, keepsMoments = false;
  // Which of the inputs tiles are fetched of, where the configuration has any.
  uint8_t residual = 0;
  uint8_t numbers = 0;  // how many floats follow
};

}  // namespace camshaft::cuda
