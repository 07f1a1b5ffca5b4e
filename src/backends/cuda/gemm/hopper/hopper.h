// Matrix products on Hopper's tensor cores, generated with whatever rides on them.
#pragma once

#include "backend/kernel.h"

namespace camshaft::cuda {

// A row for the list of matrix products.
const Kernel& hopperGemmKernel();

}  // namespace camshaft::cuda
