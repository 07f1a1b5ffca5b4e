// Products, convolutions and normalisations of com.microsoft with an activation or a bias in them.
#include <limits>

#include "onnx/formula.h"
#include "onnx/ops/conv.h"
#include "onnx/ops/fused_activation.h"
#include "onnx/ops/reduce.h"
#include "onnx/ops/softmax.h"
#include "onnx/size_rules.h"
#include "ops/gemm.h"
#include "ops/norm.h"

namespace camshaft::onnx::importer {

Value* activate(const NodeImport& node, Value* x, std::string_view name,
                const std::vector<double>& parameters) {
  static constexpr std::pair<std::string_view, ScalarOp> kPlain[] = {
      {"Relu", ScalarOp::kRelu},          {"Sigmoid", ScalarOp::kSigmoid},
      {"Tanh", ScalarOp::kTanh},          {"Softplus", ScalarOp::kSoftplus},
      {"Gelu", ScalarOp::kGelu},          {"FastGelu", ScalarOp::kGeluTanh},
      {"HardSwish", ScalarOp::kHardSwish}};
  if (name.empty()) return x;
  for (const auto& [plain, op] : kPlain)
    if (name == plain) return node.unary(op, x);
  const auto parameter = [&](size_t i, double missing) {
    return i < parameters.size() ? parameters[i] : missing;
  };
  constexpr double kHuge = std::numeric_limits<double>::infinity();
  Formula formula;
  const Term t = formula.input(0, x->dataType());
  const auto activated = [&] {
    if (name == "LeakyRelu") return where(t < 0, t * parameter(0, 0.01), t);
    if (name == "Elu") return where(t < 0, (exponential(t) - 1) * parameter(0, 1), t);
    if (name == "HardSigmoid")
      return larger(smaller(t * parameter(0, 0.2) + parameter(1, 0.5), 1), 0);
    if (name == "Clip") return smaller(larger(t, parameter(0, -kHuge)), parameter(1, kHuge));
    if (name == "ThresholdedRelu") return where(t > parameter(0, 1), t, 0);
    if (name == "Softsign") return t / (apply(ScalarOp::kAbs, t) + 1);
    node.unsupported("its activation '", name, "' is not known");
  };
  return node.pointwise({x}, formula.take(activated()));
}

namespace {

std::vector<double> activationNumbers(const NodeImport& node) {
  std::vector<double> numbers;
  for (const char* name : {"activation_alpha", "activation_beta", "activation_gamma"}) {
    if (!node.has(name)) break;
    numbers.push_back(node.number(name, 0));
  }
  return numbers;
}

// The batch of a product may stand between rows and columns: [rows, batch..., columns].
Value* batchFirst(const NodeImport& node, Value* x, bool transposed) {
  if (!transposed || x->rank() < 3) return x;
  std::vector<int64_t> order = axisRange(1, x->rank() - 1);
  order.push_back(0);
  order.push_back(x->rank() - 1);
  return node.transpose(x, std::move(order));
}

// alpha * op(a) · op(b)
Value* fusedProduct(const NodeImport& node) {
  MatMulAttrs attrs;
  Value* a = batchFirst(node, node.input(0, Ranks::from(1)), node.flag("transBatchA"));
  Value* b = batchFirst(node, node.input(1, Ranks::from(1)), node.flag("transBatchB"));
  // A vector is a row or a column, which has nothing to transpose.
  const bool vectorA = a->rank() == 1, vectorB = b->rank() == 1;
  if (vectorA) a = node.reshape(a, {1, a->shape()[0]});
  if (vectorB) b = node.reshape(b, {b->shape()[0], 1});
  attrs.transposeA = node.flag("transA") && !vectorA;
  attrs.transposeB = node.flag("transB") && !vectorB;
  Value* product = node.add(&ops::MatMul, {a, b}, attrs);
  Shape shape = product->shape();
  if (vectorB) shape.pop_back();
  if (vectorA) shape.erase(shape.end() - (vectorB ? 1 : 2));
  product = node.reshape(product, std::move(shape));
  const double alpha = node.number("alpha", 1);
  return alpha == 1 ? product : node.binary(ScalarOp::kMul, product, alpha);
}

}  // namespace

void importFusedMatMul(NodeImport& node) { node.setOutput(fusedProduct(node)); }

void importFusedMatMulActivation(NodeImport& node) {
  Value* product = fusedProduct(node);
  if (node.text("activation", "") == "Softmax") {
    const int64_t axis = node.axisAttribute("activation_axis", -1, product->rank());
    return node.setOutput(softmax(node, product, axis, false));
  }
  node.setOutput(activate(node, product, node.text("activation", ""), activationNumbers(node)));
}

void importFusedGemm(NodeImport& node) {
  Value* result = fusedProduct(node);
  if (Value* c = node.optionalInput(2)) {
    const double beta = node.number("beta", 1);
    requireBroadcastsTo(node, c, "bias", result->shape());
    if (beta != 1) c = node.binary(ScalarOp::kMul, c, beta);
    result = node.binary(ScalarOp::kAdd, result, c);
  }
  node.setOutput(activate(node, result, node.text("activation", ""), activationNumbers(node)));
}

void importGemmFastGelu(NodeImport& node) {
  Value* result = fusedProduct(node);
  if (Value* bias = node.optionalInput(2)) {
    requireBroadcastsTo(node, bias, "bias", result->shape());
    result = node.binary(ScalarOp::kAdd, result, bias);
  }
  node.setOutput(node.unary(ScalarOp::kGeluTanh, result));
}

void importFusedConv(NodeImport& node) {
  Value* result = convolve(node, node.input(0), node.input(1), node.optionalInput(2));
  if (Value* sum = node.optionalInput(3)) {
    requireShape(node, sum, "summand", result->shape());
    result = node.binary(ScalarOp::kAdd, result, sum);
  }
  node.setOutput(
      activate(node, result, node.text("activation", ""), node.numbers("activation_params")));
}

void importNhwcConv(NodeImport& node) {
  Value* x = channelsFirst(node, node.input(0, Ranks::from(3)));
  Value* result = convolve(node, x, node.input(1), node.optionalInput(2));
  if (node.hasInput(3)) {
    Value* sum = channelsFirst(node, node.input(3, x->rank()));
    requireShape(node, sum, "summand", result->shape());
    result = node.binary(ScalarOp::kAdd, result, sum);
  }
  result = activate(node, result, node.text("activation", ""), node.numbers("activation_params"));
  node.setOutput(channelsLast(node, result));
}

void importMicrosoftGroupNorm(NodeImport& node) {
  const bool last = node.flag("channels_last", true);
  Value* x = node.input(0, Ranks::from(2));
  GroupNormAttrs attrs;
  attrs.groups = node.integer("groups");
  attrs.epsilon = node.number("epsilon", 1e-5);
  if (attrs.groups <= 0) node.invalid("its groups must be positive");
  Value* y = node.add(&ops::GroupNorm,
                      {last ? channelsFirst(node, x) : x, node.cast(node.input(1), x->dataType()),
                       node.cast(node.input(2), x->dataType())},
                      attrs);
  if (node.flag("activation")) y = node.unary(ScalarOp::kSilu, y);
  node.setOutput(last ? channelsLast(node, y) : y);
}

void importBiasAdd(NodeImport& node) {
  Value *x = node.input(0, Ranks::from(1)), *bias = node.input(1), *skip = node.input(2);
  requireShape(node, bias, "bias", {x->shape().back()});
  requireShape(node, skip, "skip", x->shape());
  node.setOutput(node.binary(ScalarOp::kAdd, node.binary(ScalarOp::kAdd, x, bias), skip));
}

// Left half times the GELU of the right half.
void importBiasSplitGelu(NodeImport& node) {
  Value *x = node.input(0, Ranks::from(1)), *bias = node.input(1);
  const int64_t axis = x->rank() - 1;
  const Dim half = floorDiv(x->shape()[axis], 2);
  requireShape(node, bias, "bias", {x->shape()[axis]});
  requireSize(node, x->shape()[axis], "columns in two halves", half * 2);
  x = node.binary(ScalarOp::kAdd, x, bias);
  Value* gate = node.unary(ScalarOp::kGelu, node.slice(x, axis, half, half));
  node.setOutput(node.binary(ScalarOp::kMul, node.slice(x, axis, 0, half), gate));
}

// The bias lacks dimensions, or has them with size one, where it is repeated; softmax runs over
// every dimension from `axis` on.
void importBiasSoftmax(NodeImport& node) {
  requireBroadcastsTo(node, node.input(1), "bias", node.input(0)->shape());
  Value* x = node.binary(ScalarOp::kAdd, node.input(0), node.input(1));
  const int64_t axis = node.axisAttribute("axis", 1, x->rank());
  node.setOutput(softmax(node, x, axis, true));
}

}  // namespace camshaft::onnx::importer
