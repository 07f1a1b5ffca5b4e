// Convolutions that look at one pixel at a time, channels last, as matrix products: whatever
// multiplies matrices takes them.
#pragma once

#include "backend/kernel.h"

namespace camshaft::cuda {

// Rows for the list of convolutions.
const Kernel& hopperPixelKernel();
const Kernel& cublasLtPixelKernel();

}  // namespace camshaft::cuda
