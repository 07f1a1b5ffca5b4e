#include "quantize/fold_batch_norm.h"

#include <cmath>
#include <unordered_set>

#include "quantize/product.h"

namespace camshaft {
namespace {

class BatchNorm {
 public:
  // Whether it has constants for as many channels.
  bool read(const ModelEditor& editor, const onnx::Node& node, size_t channels) {
    if (node.inputs.size() != 5 || intAttribute(node, "training_mode", 0)) return false;
    for (size_t output = 1; output < node.outputs.size(); ++output)
      if (!node.outputs[output].empty()) return false;
    for (size_t i = 1; i < 5; ++i) {
      const auto constant = editor.findReals(node.inputs[i]);
      if (!constant || constant->values.size() != channels) return false;
      parameters_[i - 1] = constant->values;
    }
    epsilon_ = floatAttribute(node, "epsilon", 1e-5F);
    return true;
  }
  double factor(size_t c) const {
    return parameters_[0][c] / std::sqrt(static_cast<double>(parameters_[3][c]) + epsilon_);
  }
  double shifted(size_t c, double bias) const {
    return (bias - parameters_[2][c]) * factor(c) + parameters_[1][c];
  }

 private:
  std::vector<float> parameters_[4];  // scale, bias, mean, variance
  float epsilon_ = 0;
};

// Whether its weights took the batch norm in.
bool fold(ModelEditor& editor, const Product& product, const onnx::Node& norm) {
  onnx::Node& conv = editor.graph().nodes[product.node];
  const auto rows = static_cast<size_t>(product.rows());
  BatchNorm parameters;
  if (!parameters.read(editor, norm, rows)) return false;
  RealTensor bias{{product.rows()}, std::vector<float>(rows)};
  if (conv.inputs.size() > 2 && !conv.inputs[2].empty()) {
    const auto old = editor.findReals(conv.inputs[2]);
    if (!old || old->values.size() != rows) return false;
    bias.values = old->values;
  }
  RealTensor weights = product.weights;
  for (size_t row = 0; row < rows; ++row) {
    bias.values[row] = static_cast<float>(parameters.shifted(row, bias.values[row]));
    const double factor = parameters.factor(row);
    for (int64_t column = 0; column < product.columns(); ++column) {
      float& weight = weights.values[product.at(static_cast<int64_t>(row), column)];
      weight = static_cast<float>(weight * factor);
    }
  }
  conv.inputs.resize(3);
  conv.inputs[1] = editor.addReals(str(product.weightName, "_folded"), weights);
  conv.inputs[2] = editor.addReals(str(product.name, "_bias"), bias);
  conv.outputs[0] = norm.outputs[0];
  return true;
}

}  // namespace

int foldBatchNorms(ModelEditor& editor) {
  std::vector<SkippedNode> skipped;
  std::unordered_set<std::string_view> gone;  // batch norms, by what they give
  for (const Product& product : findProducts(editor, {{"Conv", "ConvTranspose"}, {}}, skipped)) {
    const auto use = editor.soleUse(product.output);
    if (!use || use->input != 0) continue;
    const onnx::Node& norm = editor.graph().nodes[use->node];
    if (!isStandard(norm) || norm.opType != "BatchNormalization") continue;
    if (fold(editor, product, norm)) gone.insert(norm.outputs[0]);
  }
  if (gone.empty()) return 0;
  std::erase_if(editor.graph().nodes, [&](const onnx::Node& node) {
    return isStandard(node) && node.opType == "BatchNormalization" &&
           gone.contains(node.outputs[0]);
  });
  editor.removeUnread();
  return static_cast<int>(gone.size());
}

}  // namespace camshaft
