// Products as MatMulNBits of com.microsoft, which unpack their weights themselves.
#pragma once

#include <vector>

#include "quantize/product.h"
#include "quantize/weights.h"

namespace camshaft {

// Each Gemm and MatMul becomes one, with the name it had; weights are those of storeBlocks(). The
// model imports com.microsoft then.
void insertMatMulNBits(ModelEditor& editor, const std::vector<Product>& products,
                       const std::vector<StoredWeights>& weights);

// Why there is none for it; empty: there is.
std::string whyNoMatMulNBits(const ModelEditor& editor, const Product& product);

}  // namespace camshaft
