// The families of CUDA kernels, each a list for some operators (kernels.cpp says which). A family's
// folder bears the name of its operators' header in src/ops.
#pragma once

#include "backend/kernel.h"

namespace camshaft::cuda {

namespace pointwise {  // and whatever else reads elements by strides
KernelList kernels();
}  // namespace pointwise

namespace move {  // elements that move to or from computed places
KernelList concatKernels();
KernelList padKernels();
KernelList tileKernels();
KernelList transposeKernels();
KernelList triluKernels();
}  // namespace move

namespace random {
KernelList kernels();
}  // namespace random

namespace shape {  // tensors made from sizes
KernelList dimsTensorKernels();
KernelList rangeKernels();
KernelList reshapeDimsKernels();
KernelList shapeKernels();
}  // namespace shape

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
KernelList einsumKernels();
KernelList kernels();
}  // namespace gemm

namespace attention {
KernelList kernels();
KernelList linearKernels();
}  // namespace attention

namespace conv {
KernelList kernels();
KernelList transposeKernels();
}  // namespace conv

namespace rnn {
KernelList kernels();
}  // namespace rnn

namespace sample {  // sums of elements around a position
KernelList gridSampleKernels();
KernelList resizeKernels();
}  // namespace sample

namespace im2col {  // windows of images as columns, and back
KernelList deformColumnsKernels();
KernelList foldColumnsKernels();
}  // namespace im2col

namespace roi {
KernelList kernels();
}  // namespace roi

namespace softmax {
KernelList kernels();
}  // namespace softmax

namespace norm {
KernelList kernels();
KernelList lrnKernels();
}  // namespace norm

namespace reduce {
KernelList cumSumKernels();
KernelList kernels();
}  // namespace reduce

namespace pool {
KernelList kernels();
}  // namespace pool

}  // namespace camshaft::cuda
