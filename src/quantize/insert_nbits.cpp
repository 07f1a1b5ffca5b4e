#include "quantize/insert_nbits.h"

#include <algorithm>

#include "support/packed.h"

namespace camshaft {
namespace {

constexpr std::string_view kMicrosoft = "com.microsoft";
constexpr uint8_t kZero = 8;  // what stands for zero where no zero points are given

// A row for each output, cut into whole blocks.
std::vector<std::byte> packedRows(const Product& product, const StoredWeights& stored,
                                  int64_t blocks) {
  const int64_t width = blocks * stored.blockSize;
  std::vector<std::byte> packed(static_cast<size_t>(product.rows() * width / 2),
                                std::byte{kZero | (kZero << 4)});
  for (int64_t row = 0; row < product.rows(); ++row)
    for (int64_t column = 0; column < product.columns(); ++column) {
      const auto at = static_cast<int64_t>(product.at(row, column));
      const auto value = static_cast<int8_t>(Int4::fromBits(getPacked(stored.data.data(), at, 4)));
      setPacked(packed.data(), row * width + column, 4, static_cast<uint8_t>(value + kZero));
    }
  return packed;
}

std::vector<float> scalesByRow(const Product& product, const StoredWeights& stored,
                               int64_t blocks) {
  if (product.channelAxis == 0) return stored.scales;
  std::vector<float> scales;
  for (int64_t row = 0; row < product.rows(); ++row)
    for (int64_t block = 0; block < blocks; ++block)
      scales.push_back(stored.scales[static_cast<size_t>(block * product.rows() + row)]);
  return scales;
}

}  // namespace

std::string whyNoMatMulNBits(const ModelEditor& editor, const Product& product) {
  if (product.op != "Gemm") return "";
  const onnx::Node& node = editor.loaded().model.graph.nodes[product.node];
  if (floatAttribute(node, "alpha", 1) != 1 || floatAttribute(node, "beta", 1) != 1)
    return "MatMulNBits has no alpha and beta";
  if (node.inputs.size() < 3 || node.inputs[2].empty()) return "";
  const onnx::Tensor* bias = editor.findConstant(node.inputs[2]);
  const bool isVector = bias && bias->dims == std::vector<int64_t>{product.rows()};
  return isVector ? "" : "MatMulNBits adds a vector alone";
}

void insertMatMulNBits(ModelEditor& editor, const std::vector<Product>& products,
                       const std::vector<StoredWeights>& weights) {
  for (size_t i = 0; i < products.size(); ++i) {
    const Product& product = products[i];
    const StoredWeights& stored = weights[i];
    const int64_t blocks = (product.columns() + stored.blockSize - 1) / stored.blockSize;
    const std::string_view packed = editor.addConstant(
        str(product.weightName, "_packed"), DataType::kU8,
        {product.rows(), blocks, stored.blockSize / 2}, packedRows(product, stored, blocks));
    const std::string_view scales =
        editor.addReals(str(product.weightName, "_scale"),
                        {{product.rows() * blocks}, scalesByRow(product, stored, blocks)});
    onnx::Node& node = editor.graph().nodes[product.node];
    std::vector<std::string_view> inputs{node.inputs[0], packed, scales};
    if (node.inputs.size() > 2 && !node.inputs[2].empty())
      inputs.insert(inputs.end(), {"", "", node.inputs[2]});
    node.inputs = std::move(inputs);
    node.opType = "MatMulNBits";
    node.domain = kMicrosoft;
    node.attributes = {makeInt("K", product.columns()), makeInt("N", product.rows()),
                       makeInt("bits", 4), makeInt("block_size", stored.blockSize)};
  }
  auto& imports = editor.model().opsetImports;
  if (std::ranges::find(imports, kMicrosoft, &onnx::OpsetImport::domain) == imports.end())
    imports.push_back({kMicrosoft, 1});
  editor.removeUnread();
}

}  // namespace camshaft
