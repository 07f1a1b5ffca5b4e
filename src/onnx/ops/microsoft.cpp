// Operators of com.microsoft that ONNX Runtime's optimisers write.
#include "onnx/formula.h"
#include "onnx/node_import.h"
#include "onnx/size_rules.h"
#include "ops/norm.h"

namespace camshaft::onnx::importer {

void importBiasGelu(NodeImport& node) {
  Value *x = node.input(0, Ranks::from(1)), *bias = node.input(1, 1);
  requireShape(node, bias, "bias", {x->shape().back()});
  node.setOutput(node.unary(ScalarOp::kGelu, node.binary(ScalarOp::kAdd, x, bias)));
}

void importFastGelu(NodeImport& node) {
  Value* x = node.input(0);
  if (Value* bias = node.optionalInput(1, 1)) {
    requireShape(node, bias, "bias", {node.input(0, Ranks::from(1))->shape().back()});
    x = node.binary(ScalarOp::kAdd, x, bias);
  }
  node.setOutput(node.unary(ScalarOp::kGeluTanh, x));
}

void importQuickGelu(NodeImport& node) {
  Value* x = node.input(0);
  Formula formula;
  const Term term = formula.input(0, x->dataType());
  term* apply(ScalarOp::kSigmoid, term * node.number("alpha", 1.702));
  node.setOutput(node.pointwise({x}, formula.take()));
}

namespace {

// Inputs x, skip, scale, then beta (not for rms) and a bias of x.
void importSkipNorm(NodeImport& node, bool rms) {
  Value *x = node.input(0, Ranks::from(2)), *skip = node.input(1, Ranks::from(2));
  const Shape &shape = x->shape(), columns{shape.back()};
  // One skip may serve all batches.
  requireBroadcastsTo(node, skip, "skip", shape);
  requireSize(node, skip->shape()[skip->rank() - 2], "rows in its skip", shape[x->rank() - 2]);
  requireSize(node, skip->shape().back(), "columns in its skip", shape.back());
  requireShape(node, node.input(2), "scale", columns);
  requireShape(node, rms ? nullptr : node.optionalInput(3), "shift", columns);
  Value* sum = node.binary(ScalarOp::kAdd, x, skip);
  if (Value* bias = node.optionalInput(rms ? 3 : 4)) {
    requireShape(node, bias, "bias", columns);
    sum = node.binary(ScalarOp::kAdd, sum, bias);
  }
  if (node.wants(1) || node.wants(2))
    node.unsupported("its mean and deviation outputs are not supported");
  LayerNormAttrs attrs;
  attrs.axis = sum->rank() - 1;
  attrs.epsilon = node.number("epsilon", 1e-12);
  attrs.rms = rms;
  std::vector<Value*> inputs{sum, node.input(2)};
  if (!rms && node.hasInput(3)) inputs.push_back(node.input(3));
  node.setOutput(0, node.add(&ops::LayerNorm, std::move(inputs), attrs));
  node.setOutput(3, sum);
}

}  // namespace

void importSkipLayerNormalization(NodeImport& node) { importSkipNorm(node, false); }
void importSkipSimplifiedLayerNormalization(NodeImport& node) { importSkipNorm(node, true); }

}  // namespace camshaft::onnx::importer
