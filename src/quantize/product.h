// The nodes that are worth quantising: products of a tensor with constant weights.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "quantize/model_editor.h"

namespace camshaft {

// A Conv, ConvTranspose, Gemm or MatMul of which one operand is a constant matrix or kernel. Its
// weights are seen as a matrix: a row for each output channel, a column for each number of the
// input that is multiplied for one element of the result.
struct Product {
  size_t node = 0;
  std::string name;  // of the node
  std::string op;
  std::string input, output;  // tensors
  std::string weightName;
  RealTensor weights;
  int channelAxis = 0;       // of the weights: output channels
  int64_t kernelVolume = 1;  // of a convolution
  int64_t groups = 1;
  // Which dimension of the input is multiplied: 1 of convolutions, else the last.
  bool isConvolution = false;

  int64_t rows() const { return weights.dims[static_cast<size_t>(channelAxis)]; }
  int64_t columns() const { return static_cast<int64_t>(weights.values.size()) / rows(); }
  size_t at(int64_t row, int64_t column) const;  // where in the weights
  // Which channel of the input an element of the weights is multiplied with.
  int64_t inputChannel(int64_t row, int64_t column) const;
  int64_t inputChannels() const { return columns() / kernelVolume * groups; }
  bool isDepthwise() const { return groups > 1 && columns() == kernelVolume; }
};

struct ProductChoice {
  std::set<std::string, std::less<>> ops;            // types of nodes that are quantised
  std::set<std::string, std::less<>> excludedNodes;  // names
};

struct SkippedNode {
  std::string name, op, reason;
};

// In the order of the model. `skipped` gets nodes of the chosen types that are no such products.
std::vector<Product> findProducts(const ModelEditor& editor, const ProductChoice& choice,
                                  std::vector<SkippedNode>& skipped);

}  // namespace camshaft
