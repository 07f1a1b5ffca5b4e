// The families of CUDA kernels, each a list for some operators; kernels.def has them all. A
// family's folder bears the name of its operators' header in src/ops.
#pragma once

#include "backend/kernel.h"

namespace camshaft::cuda {

// cuda::norm::lrnKernels(), and so on.
#define CAMSHAFT_CUDA(op, family, list) \
  namespace family {                    \
  KernelList list();                    \
  }
#include "backends/cuda/kernels.def"
#undef CAMSHAFT_CUDA

}  // namespace camshaft::cuda
