// Convolutions on cuDNN, with the epilogues it fuses.
#pragma once

#include "backend/kernel.h"

namespace camshaft::cuda {

// A row for the list of convolutions.
const Kernel& cudnnConvKernel();

}  // namespace camshaft::cuda
