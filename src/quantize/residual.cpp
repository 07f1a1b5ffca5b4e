#include "quantize/residual.h"

#include <map>
#include <unordered_set>

namespace camshaft {

// What a product gives with the constants that are added to it, or multiply it, behind it.
static std::string_view resultOf(const ModelEditor& editor, const Product& product) {
  std::string_view result = product.output;
  while (const auto use = editor.soleUse(result)) {
    const onnx::Node& node = editor.loaded().model.graph.nodes[use->node];
    if (!isStandard(node) || (node.opType != "Add" && node.opType != "Mul") ||
        !editor.findConstant(node.inputs[1 - use->input]))
      break;
    result = node.outputs[0];
  }
  return result;
}

std::vector<TensorRead> findResiduals(const ModelEditor& editor,
                                      const std::vector<Product>& products) {
  std::unordered_set<std::string_view> images;
  for (const Product& product : products)
    if (product.isConvolution) images.insert({product.input, resultOf(editor, product)});
  // Of two convolutions that are added the later one adds, to what the earlier one has stored.
  std::map<size_t, TensorRead> found;
  for (const Product& product : products) {
    const auto use = editor.soleUse(resultOf(editor, product));
    if (!product.isConvolution || !use) continue;
    const onnx::Node& node = editor.loaded().model.graph.nodes[use->node];
    if (node.opType != "Add" || !isStandard(node)) continue;
    const size_t input = 1 - use->input;
    const std::string_view tensor = node.inputs[input];
    if (images.contains(tensor))
      found.insert_or_assign(use->node, TensorRead{use->node, input, std::string(tensor)});
  }
  std::vector<TensorRead> residuals;
  for (auto& [node, residual] : found) residuals.push_back(std::move(residual));
  return residuals;
}

}  // namespace camshaft
