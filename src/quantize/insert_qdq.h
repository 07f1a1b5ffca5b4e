// QuantizeLinear and DequantizeLinear nodes around products.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "quantize/product.h"
#include "quantize/range.h"
#include "quantize/residual.h"
#include "quantize/weights.h"

namespace camshaft {

using Quantizers = std::map<std::string, Quantizer, std::less<>>;  // by tensor

// Each product reads dequantised weights, and what it reads of `quantizers` through a pair of
// QuantizeLinear and DequantizeLinear that all products and residual additions share. All other
// nodes stay as they are.
void insertQuantization(ModelEditor& editor, const std::vector<Product>& products,
                        const std::vector<TensorRead>& residuals, const Quantizers& quantizers,
                        const std::vector<StoredWeights>& weights);

}  // namespace camshaft
