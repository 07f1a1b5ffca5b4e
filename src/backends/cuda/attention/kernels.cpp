#include "backend/kernel.h"
#include "backends/cuda/attention/cudnn_attention.h"
#include "backends/cuda/attention/flash.h"
#include "backends/cuda/families.h"

namespace camshaft::cuda::attention {

// Our own first: where times are level it is the better neighbour, for it starts while the kernel
// before it ends, and lets the next one do so. The last one takes every attention.
KernelList kernels() {
  static const Kernel kKernels[] = {flashKernel(), cudnnAttentionKernel(), plainKernel()};
  return kKernels;
}

}  // namespace camshaft::cuda::attention
