// Which configurations of the Hopper matrix product are worth timing for given sizes.
#pragma once

#include <vector>

#include "backends/cuda/gemm/hopper/geometry.h"

namespace camshaft::cuda {

// Every shape the kernel is built in.
const std::vector<HopperConfig>& hopperConfigs();

// Microseconds by a simple model: waves of blocks, each bound by the tensor cores or the copies.
double estimateMicros(const HopperConfig& config, const HopperProblem& problem,
                      int multiprocessors);

// The best by that model, best first.
std::vector<HopperConfig> promisingConfigs(const HopperProblem& problem, int multiprocessors,
                                           size_t most);

}  // namespace camshaft::cuda
