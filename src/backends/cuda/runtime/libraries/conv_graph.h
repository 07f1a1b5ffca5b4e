// A convolution with its epilogue as a cuDNN operation graph.
#pragma once

#include "backends/cuda/libraries/problems.h"
#include "backends/cuda/runtime/libraries/cudnn_plan.h"

namespace camshaft::cuda {

// Ids of a convolution's operands; epilogue tensor i is kEpilogueId + i.
inline constexpr int64_t kInputId = 1, kWeightsId = 2, kOutputId = 3, kEpilogueId = 10;

OperationGraph convGraph(const ConvProblem& problem);
EngineRules convRules(const ConvProblem& problem);

}  // namespace camshaft::cuda
