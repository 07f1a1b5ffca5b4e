// Which configurations of the Hopper matrix product are worth timing for given sizes.
#pragma once

#include <vector>

#include "backends/cuda/gemm/wgmma_geometry.h"

namespace camshaft::cuda {

// Every shape the kernel is built in.
const std::vector<WgmmaConfig>& wgmmaConfigs();

// Microseconds by a simple model: waves of blocks, each bound by the tensor cores or the copies.
double estimateMicros(const WgmmaConfig& config, const WgmmaProblem& problem, int multiprocessors);

// The best by that model, best first.
std::vector<WgmmaConfig> promisingConfigs(const WgmmaProblem& problem, int multiprocessors,
                                          size_t most);

}  // namespace camshaft::cuda
