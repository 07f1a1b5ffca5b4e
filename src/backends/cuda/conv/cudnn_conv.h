// Convolutions on cuDNN, with the epilogues it fuses.
#pragma once

#include "backend/kernel.h"
#include "backends/cuda/libraries/problems.h"

namespace camshaft::cuda {

// A row for the list of convolutions.
const Kernel& cudnnConvKernel();

// What the kernel asks cuDNN for a node that it supports.
ConvProblem cudnnConvProblem(const Node& node, const BuildContext& context);

}  // namespace camshaft::cuda
