// Local response normalisation, one row of a channel at a time.
#pragma once

#include <cstdint>

namespace camshaft::cpu::norm {

// y[i] = x[i] / (bias + alpha * s)^beta, with s the sum of squares of x[i + r * stride] for r from
// `first` to `last`. None of the three numbers is negative.
void lrnRow(const float* x, float* y, int64_t count, int64_t stride, int64_t first, int64_t last,
            float bias, float alpha, float beta);

}  // namespace camshaft::cpu::norm
