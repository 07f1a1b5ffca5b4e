// What the two halves of the matrix products agree on.
#pragma once

#include <cstdint>

namespace camshaft::cpu::gemm {

inline constexpr char kPacked[] = "cpu/gemm_f32_packed";
inline constexpr char kSplit[] = "cpu/gemm_f32_split_bf16";
inline constexpr char kBf16[] = "cpu/gemm_bf16_packed";
inline constexpr char kF16[] = "cpu/gemm_f16_packed";
inline constexpr char kBatched[] = "cpu/matmul_f32_batched";

// Followed by the epilogue; f32 packed weights have their instruction set in front.
struct PackedParams {
  int64_t k = 0, n = 0;
  int64_t transposeA = 0;  // A is [..., k, m], and made row-major at the front of the workspace
};
struct BatchedParams {
  bool transposeA = false, transposeB = false;
};

}  // namespace camshaft::cpu::gemm
