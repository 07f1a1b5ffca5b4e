// The register tile of split_gemm.h: 32 x 32 results of AMX's eight tile registers.
#pragma once

#include <cstdint>

namespace camshaft::cpu {

inline constexpr int64_t kSplitRows = 32;
inline constexpr int64_t kSplitColumns = 32;
inline constexpr int64_t kSplitDepth = 32;  // steps of k per block

// Splits A into [k / 32][high, low][top, bottom 16 rows][16 rows][32 of k] bf16, with zeros
// beyond `rows` and `k`.
void splitRows(const float* a, int64_t lda, int64_t rows, int64_t k, float* split);

// products[32][32] = the three-term product of one split row block and one packed column block, by
// a thread that holds a TileScope. Meanwhile `aheadBytes` per step from `ahead` on are brought to
// L2.
void multiplySplit(const float* splitA, const float* packedB, int64_t steps, const char* ahead,
                   int64_t aheadBytes, float* products);

}  // namespace camshaft::cpu
