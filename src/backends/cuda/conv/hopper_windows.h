// Convolutions of any window, channels last, on Hopper's matrix product, which reads the windows
// straight from the images.
#pragma once

#include "backend/kernel.h"

namespace camshaft::cuda {

// A row for the list of convolutions.
const Kernel& hopperConvKernel();

}  // namespace camshaft::cuda
