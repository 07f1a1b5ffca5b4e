// Matrix products: GEMM, in batches, and contractions by an Einstein equation.
#pragma once

#include "ops/ops.h"

namespace camshaft {

// MatMul(a, b): the last two dimensions multiply, the ones before broadcast. Both operands have
// rank >= 2. Accumulates in f32 (f64 for f64, i32 for 8-bit integers, whose result is i32); of
// f8e4m3 and f8e5m2 the result is f32.
struct MatMulAttrs : AttrsOf<MatMulAttrs> {
  bool transposeA = false, transposeB = false;
  void fields(AttrVisitor& visit) override {
    visit("transpose_a", transposeA);
    visit("transpose_b", transposeB);
  }
};

// Einsum(operands...): an explicit equation, "bij,bjk->bik", ellipses spelled out.
struct EinsumAttrs : AttrsOf<EinsumAttrs> {
  std::string equation;
  void fields(AttrVisitor& visit) override { visit("equation", equation); }
};

}  // namespace camshaft
