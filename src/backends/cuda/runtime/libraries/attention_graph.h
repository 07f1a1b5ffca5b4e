// Attention as a cuDNN operation graph, in the form its attention engines look for.
#pragma once

#include "backends/cuda/libraries/problems.h"
#include "backends/cuda/runtime/libraries/cudnn_plan.h"

namespace camshaft::cuda {

// Ids of an attention's operands.
inline constexpr int64_t kQueryId = 1, kKeyId = 2, kValueId = 3, kAttentionOutputId = 4,
                         kBiasId = 5;

// At `sizes`, which may differ from the problem's.
OperationGraph attentionGraph(const AttentionProblem& problem, const AttentionSizes& sizes);

}  // namespace camshaft::cuda
