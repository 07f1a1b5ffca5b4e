// Products of rows that are normalised as they are read, of any float type, on the ordinary cores.
#pragma once

#include "backend/kernel.h"

namespace camshaft::cuda {

// A row for the list of such products: what the others' results are compared with.
const Kernel& plainNormGemmKernel();

}  // namespace camshaft::cuda
