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

// MomentMatMul(a, b): a MatMul, of MatMulAttrs, and as a second output the RowMoments (norm.h) of
// its result as it is stored, behind the epilogue.

// NormMatMul(x, w, moments, scale?, bias?): rows of x [..., K] normalised as LayerNorm does it, by
// what RowMoments has found of them, times w, which is [K, N] or, transposed, [N, K]; scale and
// bias are [K]. Further outputs, where they are kept, are what normalised the rows, f32 [..., 1]:
// their means, 0 for rms, and the factors they were multiplied by.
struct NormMatMulAttrs : AttrsOf<NormMatMulAttrs> {
  bool transposeB = false;
  double epsilon = 1e-5;
  bool rms = false;
  bool keepsMoments = false;
  static constexpr int kMoments = 2, kScale = 3, kBias = 4;  // inputs
  int meanOutput() const { return 1; }
  int factorOutput() const { return 2; }
  int outputs() const { return keepsMoments ? 3 : 1; }
  void fields(AttrVisitor& visit) override {
    visit("transpose_b", transposeB);
    visit("epsilon", epsilon);
    visit("rms", rms);
    visit("keeps_moments", keepsMoments);
  }
};

// Einsum(operands...): an explicit equation, "bij,bjk->bik", ellipses spelled out.
struct EinsumAttrs : AttrsOf<EinsumAttrs> {
  std::string equation;
  void fields(AttrVisitor& visit) override { visit("equation", equation); }
};

}  // namespace camshaft
