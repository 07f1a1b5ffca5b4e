// Build half: recognises activation(scale * x + constant + sum of coefficient * operand) *
// outScale + outShift at the start of an epilogue, x being its input 0.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "backends/cpu/gemm/epilogue.h"
#include "ir/expr.h"

namespace camshaft::cpu {

// The expression as kernels compute it whose results are narrow floats: on the f32 sums themselves,
// without rounding in between or at the end.
Expr overWideSums(const Expr& expr);

struct AffineForm {
  double scale = 0;
  double constant = 0;
  std::map<int, double> terms;  // by the expression's input
  bool isConstant() const { return scale == 0 && terms.empty(); }
};

struct ActivationForm {
  Activation activation = Activation::kNone;
  float low = 0, high = 0;
  AffineForm argument;
  double outScale = 1, outShift = -0.0;
  // These stand for more than one operation, or for a division.
  bool isRegrouped = false;
};

// The value of instruction `at` as an activation, when it is one and depends on x.
std::optional<ActivationForm> matchActivation(const Expr& expr, int at);

// What is left of the expression once instruction `at` is computed: its input 0 is that value,
// input i is `operands[i - 1]` of the original. Empty when nothing is left; none when something
// after `at` needs x in another form.
struct Remainder {
  Expr program;
  std::vector<int> operands;
};
std::optional<Remainder> remainderAfter(const Expr& expr, int at);

}  // namespace camshaft::cpu
