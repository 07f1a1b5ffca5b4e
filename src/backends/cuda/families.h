// The families of CUDA kernels, each a list for some operators (kernels.cpp says which).
#pragma once

#include "backend/kernel.h"

namespace camshaft::cuda {

namespace strided {
KernelList kernels();
}  // namespace strided

namespace move {  // elements that move to or from computed places
KernelList concatKernels();
KernelList dimsTensorKernels();
KernelList padKernels();
KernelList randomKernels();
KernelList rangeKernels();
KernelList reshapeDimsKernels();
KernelList shapeKernels();
KernelList tileKernels();
KernelList transposeKernels();
KernelList triluKernels();
}  // namespace move

namespace index {  // positions that come from tensors, or become tensors
KernelList gatherElementsKernels();
KernelList gatherKernels();
KernelList gatherNDKernels();
KernelList oneHotKernels();
KernelList reverseSequenceKernels();
KernelList scatterKernels();
KernelList topKKernels();
}  // namespace index

namespace select {  // results as many as the data decides
KernelList nonZeroKernels();
KernelList suppressKernels();
}  // namespace select

namespace gemm {
KernelList kernels();
}  // namespace gemm
namespace attention {
KernelList kernels();
KernelList linearKernels();
}  // namespace attention
namespace einsum {
KernelList kernels();
}
namespace conv {
KernelList kernels();
KernelList transposeKernels();
}  // namespace conv
namespace rnn {
KernelList kernels();
}

namespace sample {  // sums of elements around a position
KernelList gridSampleKernels();
KernelList resizeKernels();
}  // namespace sample

namespace region {  // boxes and windows on images
KernelList deformColumnsKernels();
KernelList foldColumnsKernels();
KernelList roiAlignKernels();
}  // namespace region

namespace softmax {
KernelList kernels();
}
namespace norm {
KernelList kernels();
}  // namespace norm
namespace reduce {
KernelList kernels();
}  // namespace reduce
namespace cumsum {
KernelList kernels();
}
namespace pool {
KernelList kernels();
}
namespace lrn {
KernelList kernels();
}

}  // namespace camshaft::cuda
