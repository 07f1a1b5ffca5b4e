// Convolutions as matrix products, for the passes that find such (lower_1x1_conv,
// lower_patch_embedding).
#pragma once

#include "ir/graph.h"

namespace camshaft {

// A convolution of one group with constant filters, in floating point, channels last, without
// padding, dilations and epilogue.
bool isPlainConvolution(const Node& conv);

// Replaces the convolution by rows · filtersᵀ + bias, of rows [..., K] whose elements are in the
// order of a filter's, [C, kernel...].
void replaceByProduct(Graph& graph, Node* conv, Value* rows);

}  // namespace camshaft
