#include "quantize/product.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "ir/tensor.h"

namespace camshaft {

size_t Product::at(int64_t row, int64_t column) const {
  const std::span dims(weights.dims);
  const int64_t inner = countOf(dims.subspan(static_cast<size_t>(channelAxis) + 1));
  return static_cast<size_t>((column / inner * rows() + row) * inner + column % inner);
}

int64_t Product::inputChannel(int64_t row, int64_t column) const {
  const int64_t group = row / (rows() / groups), perGroup = columns() / kernelVolume;
  return group * perGroup + column / kernelVolume;
}

namespace {

std::string readShape(Product& product, const onnx::Node& node) {
  const auto& dims = product.weights.dims;
  if (product.op == "MatMul" || product.op == "Gemm") {
    if (dims.size() != 2) return "its weights are no matrix";
    const bool isTransposed = product.op == "Gemm" && intAttribute(node, "transB", 0) != 0;
    product.channelAxis = isTransposed ? 0 : 1;
    return "";
  }
  if (dims.size() < 3) return "its weights are no kernel";
  product.isConvolution = true;
  product.groups = intAttribute(node, "group", 1);
  product.kernelVolume = countOf(std::span(dims).subspan(2));
  product.channelAxis = product.op == "ConvTranspose" ? 1 : 0;
  if (product.op == "ConvTranspose" && product.groups != 1) return "it has groups";
  const int64_t channels = dims[static_cast<size_t>(product.channelAxis)];
  if (product.groups < 1 || channels % product.groups) return "its groups divide no channels";
  return "";
}

// Why it stays as it is; empty: it is a product, and described.
std::string readProduct(Product& product, const ModelEditor& editor, const onnx::Node& node,
                        size_t index) {
  if (node.inputs.size() < 2 || node.outputs.empty()) return "it has no weights";
  product.node = index;
  product.name = nameOf(node);
  product.op = node.opType;
  product.input = node.inputs[0];
  product.output = node.outputs[0];
  product.weightName = node.inputs[1];
  if (product.op == "Gemm" && intAttribute(node, "transA", 0))
    return "it reads its input transposed";
  if (editor.findConstant(node.inputs[0])) return "its input is constant";
  const auto weights = editor.findReals(node.inputs[1]);
  if (!weights) return "its weights are no f32 constant";
  if (weights->values.empty()) return "its weights are empty";
  if (!std::ranges::all_of(weights->values, [](float w) { return std::isfinite(w); }))
    return "its weights are not finite";
  product.weights = *weights;
  return readShape(product, node);
}

}  // namespace

std::vector<Product> findProducts(const ModelEditor& editor, const ProductChoice& choice,
                                  std::vector<SkippedNode>& skipped) {
  std::vector<Product> products;
  const auto& nodes = editor.loaded().model.graph.nodes;
  for (size_t i = 0; i < nodes.size(); ++i) {
    const onnx::Node& node = nodes[i];
    if (!isStandard(node) || !choice.ops.contains(node.opType)) continue;
    Product product;
    const std::string reason = choice.excludedNodes.contains(nameOf(node))
                                   ? "it is excluded"
                                   : readProduct(product, editor, node, i);
    if (reason.empty())
      products.push_back(std::move(product));
    else
      skipped.push_back({nameOf(node), std::string(node.opType), reason});
  }
  return products;
}

}  // namespace camshaft
