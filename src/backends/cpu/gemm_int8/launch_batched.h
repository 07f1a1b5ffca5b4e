// Run half: products of two activations, matrix by matrix of a batch.
#pragma once

#include <memory>
#include <span>

#include "backend/launch.h"
#include "backends/cpu/gemm_int8/params.h"

namespace camshaft::cpu::gemm_int8 {

// Bytes of the workspace for matrices [m][k] and [k][n], or smaller ones, on so many threads.
int64_t batchedWorkspaceBytes(int64_t matrices, int64_t m, const ProductParams& params,
                              int threads);

std::shared_ptr<const void> loadBatched(std::span<const std::byte> bytes);
bool fitsBatched(const void* state, const LaunchArgs& args);
void launchBatched(const void* state, const LaunchArgs& args);

}  // namespace camshaft::cpu::gemm_int8
