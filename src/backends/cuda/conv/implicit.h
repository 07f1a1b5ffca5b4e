// Convolutions as matrix products of windows and weights on the tensor cores, channels last.
#pragma once

#include "backend/kernel.h"

namespace camshaft::cuda {

// A row for the list of convolutions.
const Kernel& implicitConvKernel();

}  // namespace camshaft::cuda
