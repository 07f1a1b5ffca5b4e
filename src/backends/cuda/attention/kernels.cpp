#include "backend/kernel.h"
#include "backends/cuda/attention/cudnn_attention.h"
#include "backends/cuda/attention/flash.h"
#include "backends/cuda/families.h"

namespace camshaft::cuda::attention {

KernelList kernels() {
  static const Kernel kKernels[] = {cudnnAttentionKernel(), flashKernel(), plainKernel()};
  return kKernels;
}

}  // namespace camshaft::cuda::attention
