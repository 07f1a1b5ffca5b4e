#include "backend/kernel.h"
#include "backends/cuda/conv/cudnn_conv.h"
#include "backends/cuda/conv/depthwise.h"
#include "backends/cuda/conv/direct.h"
#include "backends/cuda/conv/hopper_windows.h"
#include "backends/cuda/conv/implicit.h"
#include "backends/cuda/conv/pixels.h"
#include "backends/cuda/conv/stem.h"
#include "backends/cuda/families.h"

namespace camshaft::cuda::conv {

// Best guess first; the last one takes every convolution.
KernelList kernels() {
  static const Kernel kKernels[] = {
      depthwiseConvKernel(), hopperPixelKernel(),   hopperConvKernel(), stemConvKernel(),
      implicitConvKernel(),  cublasLtPixelKernel(), cudnnConvKernel(),  directConvKernel()};
  return kKernels;
}

KernelList transposeKernels() {
  static const Kernel kKernels[] = {directConvKernel()};
  return kKernels;
}

}  // namespace camshaft::cuda::conv
