// Constants that are added behind products.
#pragma once

#include <span>

#include "quantize/product.h"
#include "quantize/range.h"

namespace camshaft {

// Adds a number for each output channel to what the product gives: to its bias, or, of a MatMul, to
// the constant that an Add behind it adds. False where there is no such place.
bool addToBias(ModelEditor& editor, const Product& product, std::span<const double> correction);

// What quantisation shifts the results by on average, for each output channel: the means of the
// inputs times the weights, before and after. A convolution's padding is taken as more of the same.
std::vector<double> meanError(const Product& product, std::span<const float> roundedWeights,
                              std::span<const double> means, std::span<const double> roundedMeans);

}  // namespace camshaft
