// The activation functions that recurrent layers choose by name.
#pragma once

#include <string_view>
#include <vector>

#include "ops/rnn.h"

namespace camshaft {

struct Activation {
  std::string_view name;  // as ONNX spells it
  double (*function)(double x, double alpha, double beta);
  double alpha, beta;
  double operator()(double x) const { return function(x, alpha, beta); }
};

// Number of gates, which is also how W, R and the bias are divided.
int64_t gatesOf(RecurrentKind kind);
int64_t directionsOf(const RecurrentAttrs& attrs);

// The functions of one direction, in ONNX's order (f, g, h). Alphas and betas go to the functions
// that take them, in order. Throws, naming `who`, on unknown names or a wrong count.
std::vector<Activation> activationsOf(const RecurrentAttrs& attrs, int64_t direction,
                                      const std::string& who);

}  // namespace camshaft
