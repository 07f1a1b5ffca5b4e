#include "api/layers/product.h"

#include <algorithm>
#include <map>

#include "ops/gemm.h"

namespace camshaft::api {

using nvinfer1::MatrixOperation;

std::vector<Value*> MatrixMultiplyParams::emit(Emission& at) const {
  std::vector<Value*> operands;
  for (int i : {0, 1}) {
    Value* x = at.input(i);
    const bool vector = operations[i] == MatrixOperation::kVECTOR;
    if (operations[i] < MatrixOperation::kNONE || operations[i] > MatrixOperation::kVECTOR)
      at.invalid("was given an unknown matrix operation ", static_cast<int>(operations[i]));
    if (x->rank() < (vector ? 1 : 2)) at.invalid("cannot multiply with ", x->type, " as input ", i);
    Shape shape = x->shape();
    if (vector) shape.insert(i == 0 ? shape.end() - 1 : shape.end(), Dim(1));  // a row, or a column
    operands.push_back(at.reshape(x, std::move(shape)));
  }
  MatMulAttrs attrs;
  attrs.transposeA = operations[0] == MatrixOperation::kTRANSPOSE;
  attrs.transposeB = operations[1] == MatrixOperation::kTRANSPOSE;
  Value* product = at.add(&ops::MatMul, std::move(operands), std::move(attrs));
  Shape shape = product->shape();
  if (operations[1] == MatrixOperation::kVECTOR) shape.pop_back();
  if (operations[0] == MatrixOperation::kVECTOR)
    shape.erase(operations[1] == MatrixOperation::kVECTOR ? shape.end() - 1 : shape.end() - 2);
  return {at.reshape(product, std::move(shape))};
}

void MatrixMultiplyParams::read(const Node& node) {
  const auto& attrs = node.as<MatMulAttrs>();
  operations[0] = attrs.transposeA ? MatrixOperation::kTRANSPOSE : MatrixOperation::kNONE;
  operations[1] = attrs.transposeB ? MatrixOperation::kTRANSPOSE : MatrixOperation::kNONE;
}

void MatrixMultiplyLayer::setOperation(int32_t index, MatrixOperation operation) noexcept {
  change([&](Params& params) {
    if (index != 0 && index != 1)
      fail(ErrorKind::kInvalidArgument, "layer '", name, "' has operands 0 and 1, not ", index);
    params.operations[index] = operation;
  });
}

namespace {

// Without spaces, and with the result spelled out: the labels that occur once, in order.
std::string explicitEquation(const Emission& at, std::string equation) {
  std::erase(equation, ' ');
  if (equation.empty()) at.invalid("has no equation");
  if (equation.find('.') != std::string::npos)
    at.unsupported("has an ellipsis in its equation; spell the labels out");
  if (equation.find("->") != std::string::npos) return equation;
  std::map<char, int> counts;
  for (char label : equation)
    if (label != ',') ++counts[label];
  equation += "->";
  for (const auto& [label, count] : counts)
    if (count == 1) equation += label;
  return equation;
}

}  // namespace

std::vector<Value*> EinsumParams::emit(Emission& at) const {
  EinsumAttrs attrs;
  attrs.equation = explicitEquation(at, equation);
  for (size_t i = 0; i < at.inputs.size(); ++i) at.input(i);
  return {at.add(&ops::Einsum, at.inputs, std::move(attrs))};
}

void EinsumParams::read(const Node& node) { equation = node.as<EinsumAttrs>().equation; }

}  // namespace camshaft::api
