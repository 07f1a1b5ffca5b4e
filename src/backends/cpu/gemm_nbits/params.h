// What the two halves of the products with weights of a few bits agree on.
#pragma once

#include <cstdint>

namespace camshaft::cpu::gemm_nbits {

inline constexpr char kBlocks[] = "cpu/gemm_f32_blocks_of_bits";

// Inputs of the step: a, the packed words, the scales, the zero points if there are any (blocks.h),
// then what the epilogue reads, whose parameters follow.
struct BlockParams {
  int64_t k = 0, n = 0, blockSize = 0;
  int64_t bits = 4;
  int64_t hasZeros = 0;

  int64_t blocks() const { return (k + blockSize - 1) / blockSize; }
};

}  // namespace camshaft::cpu::gemm_nbits
