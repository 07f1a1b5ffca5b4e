// What the two halves of the Hopper matrix product agree on.
#pragma once

#include <cstdint>

#include "support/data_type.h"

namespace camshaft::cuda {

inline constexpr char kWgmmaKernel[] = "cuda/gemm_wgmma";

// The step's inputs are A, B and the operands of the epilogue; its numbers m, n, k and the batch.
struct WgmmaParams {
  int64_t config = 0;  // pack() of a WgmmaConfig
  DataType type = DataType::kF16;
  bool transposedA = false, transposedB = true;
  bool batchA = false, batchB = false;
};

}  // namespace camshaft::cuda
