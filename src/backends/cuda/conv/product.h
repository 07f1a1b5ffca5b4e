// A convolution with channels last as the product of rows, one for each place of its result, and
// its weights: what kernels of products are asked and prepared with.
#pragma once

#include <vector>

#include "backend/kernel.h"

namespace camshaft::cuda {

// Weights as a matrix: [outputs, depth], those of a ConvInteger [depth, outputs].
struct ConvMatrix {
  DataType type;
  int64_t depth;
  ConstantPtr data;
};

// In a graph of its own.
struct ConvProduct {
  Graph graph;
  Node* node = nullptr;
  std::vector<int> inputOf;  // by input of the product: which one of the convolution it is

  // Of `zeroPoints`, inputs of a ConvInteger, the product takes account.
  ConvProduct(const Node& conv, const ConvMatrix& weights, const std::vector<int>& zeroPoints);

  // What was prepared for the product, as the convolution's.
  Prepared ofConv(Prepared prepared) const;
  // The product's input that is this one of the convolution, -1 when there is none, or several.
  int placeOf(const Node& conv, int input) const;

 private:
  void multiplyFloats(const Node& conv, const ConvMatrix& weights);
  void multiplyIntegers(const Node& conv, const ConvMatrix& weights,
                        const std::vector<int>& zeroPoints);
  void addEpilogue(const Node& conv);
};

}  // namespace camshaft::cuda
