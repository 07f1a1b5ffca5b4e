// Attention kernels of our own.
#pragma once

#include "backend/kernel.h"

namespace camshaft::cuda::attention {

const Kernel& flashKernel();  // 16-bit elements, on the matrix units
const Kernel& plainKernel();  // the rest

}  // namespace camshaft::cuda::attention
