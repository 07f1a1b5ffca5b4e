// What is added to the results of convolutions.
#pragma once

#include <string>
#include <vector>

#include "quantize/product.h"

namespace camshaft {

struct TensorRead {
  size_t node, input;  // that read it
  std::string tensor;
};

// Operands of Adds whose other operand is a convolution's result, which nobody else reads. As bytes
// they need not be stored in floating point beside the bytes that the next convolution reads. Only
// tensors that convolutions among `products` make or read: those are images, and no residual stream
// of a transformer, which has no bits to spare. One for each Add, in the order of the model.
std::vector<TensorRead> findResiduals(const ModelEditor& editor,
                                      const std::vector<Product>& products);

}  // namespace camshaft
