// Attention on cuDNN.
#pragma once

#include "backend/kernel.h"

namespace camshaft::cuda {

// A row for the list of attentions.
const Kernel& cudnnAttentionKernel();

}  // namespace camshaft::cuda
