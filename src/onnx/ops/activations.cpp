// Activation functions that are formulas.
#include <limits>

#include "onnx/formula.h"
#include "onnx/ops/elementwise.h"
#include "onnx/size_rules.h"

namespace camshaft::onnx::importer {

namespace {

template <class Build>
void importFormula(NodeImport& node, Build build) {
  Value* x = node.input(0);
  Formula formula;
  node.setOutput(node.pointwise({x}, formula.take(build(formula.input(0, x->dataType())))));
}

}  // namespace

void importLeakyRelu(NodeImport& node) {
  const double alpha = node.number("alpha", 0.01);
  importFormula(node, [=](Term x) { return where(x < 0, x * alpha, x); });
}

void importElu(NodeImport& node) {
  const double alpha = node.number("alpha", 1);
  importFormula(node, [=](Term x) { return where(x < 0, (exponential(x) - 1) * alpha, x); });
}

void importSelu(NodeImport& node) {
  const bool old = node.opset() < 6;
  const double alpha = node.number("alpha", old ? 1.6732 : 1.67326319217681884765625);
  const double gamma = node.number("gamma", old ? 1.0507 : 1.05070102214813232421875);
  importFormula(node,
                [=](Term x) { return where(x > 0, x, exponential(x) * alpha - alpha) * gamma; });
}

void importCelu(NodeImport& node) {
  const double alpha = node.number("alpha", 1);
  importFormula(node, [=](Term x) {
    return larger(x, 0) + smaller((exponential(x / alpha) - 1) * alpha, 0);
  });
}

void importThresholdedRelu(NodeImport& node) {
  const double alpha = node.number("alpha", 1);
  importFormula(node, [=](Term x) { return where(x > alpha, x, 0); });
}

void importHardSigmoid(NodeImport& node) {
  const double alpha = node.number("alpha", 0.2), beta = node.number("beta", 0.5);
  importFormula(node, [=](Term x) { return larger(smaller(x * alpha + beta, 1), 0); });
}

void importMish(NodeImport& node) {
  importFormula(node,
                [](Term x) { return x * apply(ScalarOp::kTanh, apply(ScalarOp::kSoftplus, x)); });
}

void importSoftsign(NodeImport& node) {
  importFormula(node, [](Term x) { return x / (apply(ScalarOp::kAbs, x) + 1); });
}

void importShrink(NodeImport& node) {
  const double bias = node.number("bias", 0), lambda = node.number("lambd", 0.5);
  const DataType type = node.input(0)->dataType();
  importFormula(node, [=](Term given) {
    // Of integers too bias and lambda are real numbers; what comes out is cut off.
    const Term x = isFloat(type) ? given : cast(given, DataType::kF64);
    return cast(where(x < -lambda, x + bias, where(x > lambda, x - bias, 0)), type);
  });
}

void importSwish(NodeImport& node) {
  const double alpha = node.number("alpha", 1);
  if (alpha == 1) return importUnary(node, ScalarOp::kSilu);
  importFormula(node, [=](Term x) { return x * apply(ScalarOp::kSigmoid, x * alpha); });
}

// a * sigmoid(alpha * a) * b
void importSwiGLU(NodeImport& node) {
  Value *a = node.input(0), *b = node.input(1);
  Formula formula;
  const Term gate = formula.input(0, a->dataType());
  const Term result = gate * apply(ScalarOp::kSigmoid, gate * node.number("alpha", 1)) *
                      formula.input(1, b->dataType());
  node.setOutput(node.pointwise({a, b}, formula.take(result)));
}

void importGelu(NodeImport& node) {
  const bool tanh = node.choice("approximate", "none", {"none", "tanh"}) == 1;
  importUnary(node, tanh ? ScalarOp::kGeluTanh : ScalarOp::kGelu);
}

void importIsNaN(NodeImport& node) {
  importFormula(node, [](Term x) { return x != x; });
}

void importIsInf(NodeImport& node) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const bool positive = node.flag("detect_positive", true),
             negative = node.flag("detect_negative", true);
  importFormula(node, [=](Term x) {
    if (positive && negative) return apply(ScalarOp::kAbs, x) == kInfinity;
    if (positive || negative) return x == (positive ? kInfinity : -kInfinity);
    return (x == x) && (x != x);
  });
}

void importPRelu(NodeImport& node) {
  Value* x = node.input(0);
  Value* slope = node.input(1);
  if (node.opset() < 7 && x->rank() > 1) slope = alongAxis(node, slope, 1, x->rank());
  requireBroadcastsTo(node, slope, "slope", x->shape());
  Formula formula;
  const Term value = formula.input(0, x->dataType());
  const Term result = where(value < 0, value * formula.input(1, slope->dataType()), value);
  node.setOutput(node.pointwise({x, slope}, formula.take(result)));
}

}  // namespace camshaft::onnx::importer
