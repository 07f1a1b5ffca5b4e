// Rows of bf16 as f32 and back, for kernels that compute in f32 on a piece at a time.
#pragma once

#include <cstdint>

#include "support/half.h"

namespace camshaft::cpu {

void widenRow(const BFloat16* from, int64_t count, float* to);
// Rounds to nearest, ties to even.
void narrowRow(const float* from, int64_t count, BFloat16* to);

}  // namespace camshaft::cpu
