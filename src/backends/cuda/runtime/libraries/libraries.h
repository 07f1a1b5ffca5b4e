// cuBLASLt and cuDNN behind the CUDA backend: plans for a problem, and the kernels that run them.
#pragma once

#include <span>
#include <vector>

#include "backend/launch.h"
#include "backends/cuda/libraries/problems.h"

namespace camshaft::cuda {

// Plans worth timing, the library's best guess first, `most` of them. They need a current CUDA
// context, since the libraries plan for its device. Error(kUnsupported) says which library or
// device is missing; an empty list says that the library does not take the problem.
std::vector<LibraryPlan> gemmPlans(const GemmProblem& problem, int most);
std::vector<LibraryPlan> convPlans(const ConvProblem& problem, int most);
std::vector<LibraryPlan> attentionPlans(const AttentionProblem& problem, int most);

// Versions of the libraries as keys of timing caches want them, "cublasLt 130100, cudnn 91900", or
// "none" where one is missing.
std::string describeLibraries();

extern const RuntimeKernel kGemmCublasLt;
extern const RuntimeKernel kConvCudnn;
extern const RuntimeKernel kAttentionCudnn;
std::span<const RuntimeKernel* const> libraryKernels();

}  // namespace camshaft::cuda
