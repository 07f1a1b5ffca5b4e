// Products of 8-bit integers, exact in 32 bits, and the quantisation that gives them their operand.
//
// Operands are u8 or i8 in any combination. A zero point has its operand's type and broadcasts to
// its shape; left out, it is zero. Sums wrap around at 32 bits.
#pragma once

#include "ops/conv.h"

namespace camshaft {

struct Value;

// MatMulInteger(a, b, aZero?, bZero?): (a - aZero) · (b - bZero) in i32. Both operands have rank
// >= 2; dimensions before the last two broadcast.
//
// ConvInteger(x, weights, xZero?, weightZero?): Conv of x - xZero and weights - weightZero in i32,
// with the attributes and shapes of Conv; the padding is xZero.
//
// DynamicQuantize(x): x [f32] as u8, with its scale and zero point, scalars. The range of x,
// widened to hold zero, is mapped to 0..255; of nothing but zeros the scale is 1.
using ConvIntegerAttrs = ConvAttrs;

bool isOneNumber(const Value& value);  // of any rank

// One number, or one for each slice of dimension `axis` of a tensor of this rank.
bool liesAlong(const Value& value, int64_t axis, int64_t rank);

// Whether a ConvInteger of these weights has a filter for each channel, of few enough taps (128)
// and channels (4096) for kernels that sum up each by itself.
bool hasFilterPerChannel(const Shape& weights, int64_t groups);
// That, or groups of enough filters to be products of matrices.
bool isConvolvedAsBytes(const Shape& weights, int64_t groups);

// Whether the matrices of two activations [..., m, k] and [..., k, n] are multiplied one by one, or
// all rows by one, or one by all.
bool areMatrixByMatrix(const Shape& a, const Shape& b);

}  // namespace camshaft
