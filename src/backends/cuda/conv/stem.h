// Convolutions of images of few channels, which networks begin with, on the tensor cores, channels
// last.
#pragma once

#include "backend/kernel.h"

namespace camshaft::cuda {

// A row for the lists of convolutions.
const Kernel& stemConvKernel();

}  // namespace camshaft::cuda
