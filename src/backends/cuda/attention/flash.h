// Attention kernels of our own, the fast one first.
#pragma once

#include "backend/kernel.h"

namespace camshaft::cuda::attention {

KernelList flashKernels();

}  // namespace camshaft::cuda::attention
