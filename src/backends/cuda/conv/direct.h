// Convolutions and transposed convolutions of any type, layout and rank, tap by tap.
#pragma once

#include "backend/kernel.h"

namespace camshaft::cuda {

// A row for the lists of both.
const Kernel& directConvKernel();

}  // namespace camshaft::cuda
