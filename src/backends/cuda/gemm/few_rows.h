// Products of a few rows with constant 16-bit weights, bound by the memory that the weights lie in.
#pragma once

#include "backend/kernel.h"

namespace camshaft::cuda {

// A row for the list of matrix products.
const Kernel& fewRowsKernel();

}  // namespace camshaft::cuda
