// Products on tensor cores that unpack their weights in registers.
#pragma once

#include "backend/kernel.h"

namespace camshaft::cuda {

// A row for the list of products with weights of a few bits.
const Kernel& unpackingNBitsKernel();

}  // namespace camshaft::cuda
