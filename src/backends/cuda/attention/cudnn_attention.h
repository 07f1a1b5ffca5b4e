// Attention on cuDNN.
#pragma once

#include "backend/kernel.h"
#include "backends/cuda/libraries/problems.h"

namespace camshaft::cuda {

// A row for the list of attentions.
const Kernel& cudnnAttentionKernel();

// What the kernel asks cuDNN for a node that it supports.
AttentionProblem cudnnAttentionProblem(const Node& node, const BuildContext& context);

}  // namespace camshaft::cuda
