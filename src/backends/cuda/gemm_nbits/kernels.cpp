#include "backend/kernel.h"
#include "backends/cuda/families.h"
#include "backends/cuda/gemm_nbits/plain.h"
#include "backends/cuda/gemm_nbits/unpacking.h"

namespace camshaft::cuda::gemm_nbits {

// Best guess first; the last one takes every product.
KernelList kernels() {
  static const Kernel kKernels[] = {unpackingNBitsKernel(), plainNBitsKernel()};
  return kKernels;
}

}  // namespace camshaft::cuda::gemm_nbits
