#include "quantize/bias.h"

namespace camshaft {
namespace {

// The place of the constant that is added to each row: node and input.
struct BiasPlace {
  size_t node, input;
};

std::optional<BiasPlace> findPlace(const ModelEditor& editor, const Product& product) {
  const auto& nodes = editor.loaded().model.graph.nodes;
  const onnx::Node& node = nodes[product.node];
  if (product.op != "MatMul") {
    const bool isScaled =
        floatAttribute(node, "alpha", 1) != 1 || floatAttribute(node, "beta", 1) != 1;
    return product.op == "Gemm" && isScaled ? std::nullopt
                                            : std::optional(BiasPlace{product.node, 2});
  }
  const auto use = editor.soleUse(product.output);
  if (!use || nodes[use->node].opType != "Add" || !isStandard(nodes[use->node]))
    return std::nullopt;
  return BiasPlace{use->node, 1 - use->input};
}

}  // namespace

bool addToBias(ModelEditor& editor, const Product& product, std::span<const double> correction) {
  const auto place = findPlace(editor, product);
  if (!place) return false;
  onnx::Node& node = editor.graph().nodes[place->node];
  RealTensor bias{{product.rows()}, std::vector<float>(correction.size())};
  if (node.inputs.size() > place->input && !node.inputs[place->input].empty()) {
    const auto old = editor.findReals(node.inputs[place->input]);
    if (!old || old->values.size() != correction.size() || old->dims.empty() ||
        old->dims.back() != product.rows())
      return false;
    bias = *old;
  }
  for (size_t i = 0; i < correction.size(); ++i)
    bias.values[i] = static_cast<float>(bias.values[i] + correction[i]);
  if (node.inputs.size() <= place->input) node.inputs.resize(place->input + 1);
  node.inputs[place->input] = editor.addReals(str(product.name, "_corrected_bias"), bias);
  return true;
}

std::vector<double> meanError(const Product& product, std::span<const float> roundedWeights,
                              std::span<const double> means, std::span<const double> roundedMeans) {
  std::vector<double> errors(static_cast<size_t>(product.rows()), 0);
  for (int64_t row = 0; row < product.rows(); ++row)
    for (int64_t column = 0; column < product.columns(); ++column) {
      const size_t at = product.at(row, column);
      const auto channel = static_cast<size_t>(product.inputChannel(row, column));
      errors[static_cast<size_t>(row)] +=
          roundedWeights[at] * roundedMeans[channel] - product.weights.values[at] * means[channel];
    }
  return errors;
}

}  // namespace camshaft
