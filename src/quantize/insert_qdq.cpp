#include "quantize/insert_qdq.h"

#include <algorithm>
#include <cstring>

namespace camshaft {
namespace {

class Inserter {
 public:
  explicit Inserter(ModelEditor& editor) : editor_(editor) {}

  // In the order of nodes: a pair stands in front of the first that reads it.
  void quantizeInput(const TensorRead& read, const Quantizer& quantizer) {
    auto& made = dequantized_[read.tensor];
    if (made.empty()) made = pair(read.node, read.tensor, quantizer);
    editor_.graph().nodes[read.node].inputs[read.input] = made;
  }

  void dequantizeWeights(const Product& product, const StoredWeights& stored) {
    const std::string& name = product.weightName;
    const std::vector<std::string_view> inputs{
        editor_.addConstant(str(name, "_quantized"), stored.type, product.weights.dims,
                            stored.data),
        editor_.addReals(str(name, "_scale"), {stored.scaleDims, stored.scales}),
        zeroPoint(str(name, "_zero_point"), stored.type, 0, stored.scaleDims)};
    onnx::Node node = makeNode("DequantizeLinear", name, inputs);
    node.attributes.push_back(makeInt("axis", stored.axis));
    if (stored.blockSize) node.attributes.push_back(makeInt("block_size", stored.blockSize));
    editor_.graph().nodes[product.node].inputs[1] = node.outputs[0];
    add(product.node, std::move(node));
  }

  void finish() {
    editor_.insert(std::move(insertions_));
    editor_.removeUnread();
  }

 private:
  std::string_view pair(size_t before, const std::string& tensor, const Quantizer& quantizer) {
    const std::string_view scale = editor_.addReals(str(tensor, "_scale"), {{}, {quantizer.scale}});
    const std::string_view zero =
        zeroPoint(str(tensor, "_zero_point"), quantizer.type, quantizer.zeroPoint, {});
    onnx::Node quantize = makeNode("QuantizeLinear", tensor, {editor_.keep(tensor), scale, zero});
    onnx::Node dequantize =
        makeNode("DequantizeLinear", tensor, {quantize.outputs[0], scale, zero});
    const std::string_view result = dequantize.outputs[0];
    add(before, std::move(quantize));
    add(before, std::move(dequantize));
    return result;
  }

  std::string_view zeroPoint(std::string base, DataType type, int value,
                             const std::vector<int64_t>& dims) {
    int64_t count = 1;
    for (const int64_t size : dims) count *= size;
    std::vector<std::byte> data(bytesOf(type, count), static_cast<std::byte>(value));
    return editor_.addConstant(std::move(base), type, dims, std::move(data));
  }

  onnx::Node makeNode(std::string_view op, const std::string& tensor,
                      const std::vector<std::string_view>& inputs) {
    onnx::Node node;
    node.opType = op;
    node.name = editor_.freshName(str(tensor, "_", op));
    node.inputs = inputs;
    node.outputs = {editor_.freshName(str(tensor, "_", op, "_Output"))};
    return node;
  }

  void add(size_t before, onnx::Node node) { insertions_.push_back({before, std::move(node)}); }

  ModelEditor& editor_;
  std::map<std::string, std::string_view> dequantized_;
  std::vector<ModelEditor::Insertion> insertions_;
};

}  // namespace

void insertQuantization(ModelEditor& editor, const std::vector<Product>& products,
                        const std::vector<TensorRead>& residuals, const Quantizers& quantizers,
                        const std::vector<StoredWeights>& weights) {
  Inserter inserter(editor);
  std::vector<TensorRead> reads = residuals;
  for (const Product& product : products) reads.push_back({product.node, 0, product.input});
  std::ranges::sort(reads, {}, &TensorRead::node);
  for (const TensorRead& read : reads)
    if (const auto quantizer = quantizers.find(read.tensor); quantizer != quantizers.end())
      inserter.quantizeInput(read, quantizer->second);
  for (size_t i = 0; i < products.size(); ++i) inserter.dequantizeWeights(products[i], weights[i]);
  inserter.finish();
}

}  // namespace camshaft
