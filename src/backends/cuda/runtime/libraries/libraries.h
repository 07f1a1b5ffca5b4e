// cuBLASLt and cuDNN behind the CUDA backend: plans for a problem, and the kernels that run them.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "backend/launch.h"
#include "backends/cuda/libraries/problems.h"

namespace camshaft::cuda {

// Plans worth timing, the library's best guess first. They need a current CUDA context, since the
// libraries plan for its device. Error(kUnsupported) says which library or device is missing; an
// empty list says that the library does not take the problem.
std::vector<LibraryPlan> gemmPlans(const GemmProblem& problem, int most);

// Plan `number` of those worth timing, which is built alone: cuDNN's can take a second. A number
// means the same for all builds with one library and kind of device. Null past the last, and where
// the plan does not build after all.
std::optional<LibraryPlan> convPlan(const ConvProblem& problem, int number);
std::optional<LibraryPlan> attentionPlan(const AttentionProblem& problem, int number);

// Versions of the libraries as keys of timing caches want them, "cublasLt 130100, cudnn 91900", or
// "none" where one is missing.
std::string describeLibraries();

extern const RuntimeKernel kGemmCublasLt;
extern const RuntimeKernel kConvCudnn;
extern const RuntimeKernel kAttentionCudnn;
std::span<const RuntimeKernel* const> libraryKernels();

}  // namespace camshaft::cuda
