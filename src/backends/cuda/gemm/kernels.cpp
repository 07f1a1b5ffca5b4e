#include "backend/kernel.h"
#include "backends/cuda/families.h"
#include "backends/cuda/gemm/cublaslt.h"
#include "backends/cuda/gemm/few_rows.h"
#include "backends/cuda/gemm/mma.h"
#include "backends/cuda/gemm/plain.h"
#include "backends/cuda/gemm/plain_norm.h"
#include "backends/cuda/gemm/hopper/hopper.h"

namespace camshaft::cuda::gemm {

// Best guess first; the last one takes every product.
KernelList kernels() {
  static const Kernel kKernels[] = {hopperGemmKernel(), cublasLtKernel(), mmaGemmKernel(),
                                    fewRowsKernel(), plainGemmKernel()};
  return kKernels;
}

KernelList momentKernels() {
  static const Kernel kKernels[] = {hopperGemmKernel(), plainGemmKernel()};
  return kKernels;
}

KernelList normKernels() {
  static const Kernel kKernels[] = {hopperGemmKernel(), plainNormGemmKernel()};
  return kKernels;
}

}  // namespace camshaft::cuda::gemm
