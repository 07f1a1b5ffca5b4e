// Products with weights of a few bits of any form on the ordinary cores.
#pragma once

#include "backend/kernel.h"

namespace camshaft::cuda {

// A row for the list of products with weights of a few bits.
const Kernel& plainNBitsKernel();

}  // namespace camshaft::cuda
