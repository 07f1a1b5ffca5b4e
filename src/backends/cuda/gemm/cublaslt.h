// Matrix products on cuBLASLt.
#pragma once

#include "backend/kernel.h"

namespace camshaft::cuda {

// A row for the list of matrix products.
const Kernel& cublasLtKernel();

}  // namespace camshaft::cuda
