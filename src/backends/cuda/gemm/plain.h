// Matrix products of any type on the ordinary cores, exact in the type they add up in.
#pragma once

#include "backend/kernel.h"

namespace camshaft::cuda {

// A row for the list of matrix products.
const Kernel& plainGemmKernel();

}  // namespace camshaft::cuda
