// Matrix products.
#include <numeric>

#include "ir/rewrite.h"
#include "onnx/write/printers.h"
#include "ops/gemm.h"
#include "ops/ops.h"
#include "ops/pointwise.h"

namespace camshaft::onnx::writer {

namespace {

bool isFloating(const Value* value) {
  const DataType type = value->dataType();
  return type == DataType::kF32 || type == DataType::kF16 || type == DataType::kF64;
}

Name transposed(GraphWriter& writer, const Value* value, bool swap) {
  const Name name = writer.use(value);
  if (!swap) return name;
  std::vector<int64_t> order(static_cast<size_t>(value->rank()));
  std::iota(order.begin(), order.end(), 0);
  std::swap(order[order.size() - 1], order[order.size() - 2]);
  return writer.add("Transpose", {name}, {attribute("perm", std::move(order))});
}

// Sizes that can only broadcast towards the product's, as Gemm demands of its addend.
bool broadcastsTo(const Shape& addend, const Shape& product) {
  if (addend.size() > product.size()) return false;
  for (size_t i = 1; i <= addend.size(); ++i) {
    const Dim& size = addend[addend.size() - i];
    if (!size.isConstant(1) && !(size == product[product.size() - i])) return false;
  }
  return true;
}

}  // namespace

std::string printMatMul(GraphWriter& writer, const Node& node) {
  const auto& attrs = node.as<MatMulAttrs>();
  const Value *a = node.input(0), *b = node.input(1);
  if (node.output()->dataType() != a->dataType()) return "its result has another type";
  const bool swaps = attrs.transposeA || attrs.transposeB;
  if (swaps && a->rank() == 2 && b->rank() == 2 && writer.opset() >= 11 && isFloating(a)) {
    writer.add("Gemm", {writer.use(a), writer.use(b)},
               {attribute("transA", int64_t{attrs.transposeA}),
                attribute("transB", int64_t{attrs.transposeB})},
               node.output());
    return {};
  }
  writer.add("MatMul",
             {transposed(writer, a, attrs.transposeA), transposed(writer, b, attrs.transposeB)}, {},
             node.output());
  return {};
}

bool printGemm(GraphWriter& writer, const Node& addition) {
  if (addition.op != &ops::Pointwise || addition.epilogue || writer.opset() < 7) return false;
  if (!addition.as<PointwiseAttrs>().expr.isSingle(ScalarOp::kAdd)) return false;
  for (const int side : {0, 1}) {
    const Value *product = addition.input(side), *addend = addition.input(1 - side);
    const Node* matmul = producerOf(product, &ops::MatMul);
    if (!matmul || product == addend || !onlyUser(writer.graph(), product)) continue;
    const Value *a = matmul->input(0), *b = matmul->input(1);
    if (a->rank() != 2 || b->rank() != 2 || !isFloating(a)) continue;
    if (!broadcastsTo(addend->shape(), product->shape())) continue;
    const auto& attrs = matmul->as<MatMulAttrs>();
    Attributes made;
    if (attrs.transposeA) made.push_back(attribute("transA", int64_t{1}));
    if (attrs.transposeB) made.push_back(attribute("transB", int64_t{1}));
    writer.add("Gemm", {writer.use(a), writer.use(b), writer.use(addend)}, std::move(made),
               addition.output());
    return true;
  }
  return false;
}

std::string printEinsum(GraphWriter& writer, const Node& node) {
  if (writer.opset() < 12) return "opset 12 is the first with Einsum";
  std::vector<Name> operands;
  for (const Value* input : node.inputs) operands.push_back(writer.use(input));
  writer.add("Einsum", std::move(operands),
             {attribute("equation", writer.own(node.as<EinsumAttrs>().equation))}, node.output());
  return {};
}

}  // namespace camshaft::onnx::writer
