// Convolutions of each channel by itself, channels last.
#pragma once

#include "backend/kernel.h"

namespace camshaft::cuda {

// A row for the list of convolutions.
const Kernel& depthwiseConvKernel();

}  // namespace camshaft::cuda
