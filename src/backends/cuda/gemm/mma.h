// Matrix products of f16 and bf16 on the tensor cores of any GPU since compute capability 8.0.
#pragma once

#include "backend/kernel.h"

namespace camshaft::cuda {

// A row for the list of matrix products.
const Kernel& mmaGemmKernel();

}  // namespace camshaft::cuda
