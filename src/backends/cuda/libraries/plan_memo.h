// Plans of the vendor's libraries, asked for once per problem: equal layers share theirs.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "backend/kernel.h"
#include "backends/cuda/libraries/problems.h"

namespace camshaft::cuda {

// Plan `number` of the problem, or null when the library does not offer it, or the target is not
// here to be asked. Any thread; of cuDNN's only this one is built.
std::shared_ptr<const LibraryPlan> planOf(const BuildTarget& target, const GemmProblem& problem,
                                          int64_t number);
std::shared_ptr<const LibraryPlan> planOf(const BuildTarget& target, const ConvProblem& problem,
                                          int64_t number);
std::shared_ptr<const LibraryPlan> planOf(const BuildTarget& target,
                                          const AttentionProblem& problem, int64_t number);

// Numbers of plans, for Kernel::configurations; prepare() refuses those that a problem lacks.
inline constexpr int kMostLibraryPlans = 8;
std::vector<int64_t> planNumbers(int count);

// A step that runs the plan, or the refusal where there is none. Steps whose sizes change get room
// for the plans of other sizes, as far as the build has it.
Prepared preparedFor(const LibraryPlan* plan, const char* runtimeKernel, bool isDynamic,
                     const BuildContext& context);

}  // namespace camshaft::cuda
