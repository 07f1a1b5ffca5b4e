#include "backend/kernel.h"
#include "backends/cuda/conv/depthwise.h"
#include "backends/cuda/conv/direct.h"
#include "backends/cuda/conv/hopper_windows.h"
#include "backends/cuda/conv/implicit.h"
#include "backends/cuda/conv/pixels.h"
#include "backends/cuda/conv/stem.h"
#include "backends/cuda/families.h"
#include "backends/cuda/gemm/hopper/hopper.h"
#include "backends/cuda/gemm/mma.h"
#include "backends/cuda/gemm/plain.h"

namespace camshaft::cuda::gemm_int8 {

// Products of integers are those of other types with zero points (operands.h), so their kernels
// are the same. Best guess first; the last one takes every product.
KernelList matMulKernels() {
  static const Kernel kKernels[] = {hopperGemmKernel(), mmaGemmKernel(), plainGemmKernel()};
  return kKernels;
}

KernelList convKernels() {
  static const Kernel kKernels[] = {depthwiseConvKernel(), hopperPixelKernel(),
                                    hopperConvKernel(),    stemConvKernel(),
                                    implicitConvKernel(),  directConvKernel()};
  return kKernels;
}

}  // namespace camshaft::cuda::gemm_int8
