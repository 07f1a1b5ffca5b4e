// Products with weights of a few bits, quantised block by block.
#pragma once

#include "ops/ops.h"

namespace camshaft {

// MatMulNBits(a, weights, scales, zeros?, factors?): a [..., K] times w [N, K] transposed. A row of
// weights [N, blocks, blockSize * bits / 8] u8 holds its numbers one after the other, the lowest
// bits of a byte first; w = (number - zero) * scale with a scale, of a's type, and a zero
// [N, blocks] for each block. Zeros are u8 or floats; left out, they are the middle of the range,
// 2^(bits - 1). The last block may reach beyond K.
//
// With `rms`, rows of a are first normalised as LayerNorm {rms} does it, times factors [K] where
// they are given, and rounded to a's type.
//
// With `gate` given, an expression of two numbers, columns are taken in pairs: N is even, and
// column i of the result is the gate of columns i and N / 2 + i.
struct MatMulNBitsAttrs : AttrsOf<MatMulNBitsAttrs> {
  int64_t bits = 4;  // 2, 4 or 8
  int64_t blockSize = 32;
  bool rms = false;
  double epsilon = 1e-5;
  Expr gate;
  bool isGated() const { return gate.inputCount() > 0; }
  void fields(AttrVisitor& visit) override {
    visit("bits", bits);
    visit("block_size", blockSize);
    visit("rms", rms);
    visit("epsilon", epsilon);
    visit("gate", gate);
  }
};

}  // namespace camshaft
