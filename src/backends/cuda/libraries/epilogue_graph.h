// A convolution's epilogue as the short list of pointwise operations that cuDNN fuses.
#pragma once

#include <span>
#include <string>

#include "backends/cuda/libraries/problems.h"
#include "ir/expr.h"

namespace camshaft::cuda {

struct TranslatedEpilogue {
  ConvEpilogue epilogue;
  std::string refusal;  // why it cannot be said so; empty: it can
};

// `expr` is over the accumulator (input 0) and the tensors (input i + 1), whose shapes `tensors`
// describes. Everything is computed in f32, so that casts between floating types vanish; what is
// not floating is refused, but for the last cast, to the output's type, which cuDNN does itself.
TranslatedEpilogue translateEpilogue(const Expr& expr, std::span<const EpilogueTensor> tensors);

// The same with bias[channel] added to the accumulator first, as the tensor after the others.
void addBias(ConvEpilogue& epilogue, DataType biasType);

}  // namespace camshaft::cuda
