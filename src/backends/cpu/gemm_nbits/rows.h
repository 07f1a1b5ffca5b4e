// The first operand in workspace: rows filled up to whole blocks, kMaxRows side by side (blocks.h),
// then the sums of their blocks.
#pragma once

#include "backends/cpu/gemm_nbits/params.h"

namespace camshaft::cpu::gemm_nbits {

inline int64_t paddedDepth(const BlockParams& params) { return params.blocks() * params.blockSize; }

inline int64_t rowsWorkspaceBytes(int64_t m, const BlockParams& params) {
  const int64_t floats = paddedDepth(params) + (params.hasZeros ? params.blocks() : 0);
  return m * floats * static_cast<int64_t>(sizeof(float));
}

}  // namespace camshaft::cpu::gemm_nbits
