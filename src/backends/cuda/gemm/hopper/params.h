// What the two halves of the Hopper matrix product agree on.
#pragma once

#include <cstdint>

#include "backends/cuda/gemm/hopper/images.h"

namespace camshaft::cuda {

inline constexpr char kHopperGemmKernel[] = "cuda/gemm_hopper";
inline constexpr char kHopperGemmEntry[] = "gemm";  // in gemm.cuh

// The step's inputs are A, B and the operands of the epilogue; its numbers m, n, k and the batch.
// Where rows of A are windows of images, a HopperWindows follows, and the numbers go on: images,
// their height, breadth and channels.
struct HopperParams {
  int64_t config = 0;  // pack() of a HopperConfig
  DataType typeA = DataType::kF16, typeB = DataType::kF16;
  uint8_t transposedA = false, transposedB = true;  // numbers: a file may hold any
  uint8_t batchA = false, batchB = false;
};

}  // namespace camshaft::cuda
