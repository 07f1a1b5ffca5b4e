// Matrix products on the tensor cores by the instructions of a warp: of f16 and bf16 on any GPU
// since compute capability 8.0, of bytes since 7.5.
#pragma once

#include "backend/kernel.h"

namespace camshaft::cuda {

// A row for the list of matrix products.
const Kernel& mmaGemmKernel();

}  // namespace camshaft::cuda
