// Plans of the vendor's libraries, asked for once per problem: a tuner prepares a node for each.
#pragma once

#include <memory>
#include <vector>

#include "backend/kernel.h"
#include "backends/cuda/libraries/problems.h"

namespace camshaft::cuda {

inline constexpr int kMostLibraryPlans = 8;

// Numbers of plans; prepare() refuses those that a problem does not have.
std::vector<int64_t> planNumbers(const Node& node);

// Plan `number` of the problem, or null when the library offers fewer. Any thread.
std::shared_ptr<const LibraryPlan> planOf(const GemmProblem& problem, int64_t number);
std::shared_ptr<const LibraryPlan> planOf(const ConvProblem& problem, int64_t number);
std::shared_ptr<const LibraryPlan> planOf(const AttentionProblem& problem, int64_t number);

// A step that runs the plan, or the refusal where there is none. Steps whose sizes change get room
// for the plans of other sizes.
Prepared preparedFor(const LibraryPlan* plan, const char* runtimeKernel, bool isDynamic);

}  // namespace camshaft::cuda
