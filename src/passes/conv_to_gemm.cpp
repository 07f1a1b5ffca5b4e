#include "passes/conv_to_gemm.h"

#include <algorithm>

#include "ir/rewrite.h"
#include "ops/conv.h"
#include "ops/gemm.h"
#include "ops/ops.h"
#include "ops/pointwise.h"
#include "passes/edit.h"

namespace camshaft {

bool isPlainConvolution(const Node& conv) {
  if (conv.op != &ops::Conv || conv.epilogue) return false;
  const auto& attrs = conv.as<ConvAttrs>();
  const Value *x = conv.input(0), *weights = conv.input(1);
  const auto are = [](const std::vector<int64_t>& values, int64_t wanted) {
    return std::all_of(values.begin(), values.end(), [=](int64_t v) { return v == wanted; });
  };
  return attrs.channelsLast && attrs.groups == 1 && isFloat(x->dataType()) &&
         weights->isConstant() &&
         (!conv.hasInput(2) || conv.input(2)->dataType() == x->dataType()) &&
         are(attrs.dilations, 1) && are(attrs.padsBegin, 0) && are(attrs.padsEnd, 0);
}

// product + bias, in f32 whatever they are stored as.
static Value* addBias(Graph& graph, const Node& conv, Value* product, Node* before) {
  const DataType type = product->dataType();
  Expr expr;
  const int a = expr.input(0, type), b = expr.input(1, type);
  if (type == DataType::kF32) {
    expr.apply(ScalarOp::kAdd, a, b);
  } else {
    const int wide = expr.cast(a, DataType::kF32);
    expr.cast(expr.apply(ScalarOp::kAdd, wide, expr.cast(b, DataType::kF32)), type);
  }
  return addPointwise(graph, conv.name, {product, conv.input(2)}, std::move(expr), before);
}

void replaceByProduct(Graph& graph, Node* conv, Value* rows) {
  const Value* weights = conv->input(1);
  const Shape& shape = weights->shape();
  const Dim depth =
      numElements(Shape(shape.begin() + 1, shape.end()));  // the rows' may be a symbol
  Value* matrix =
      graph.addConstant(weights->name, {weights->dataType(), {shape[0], depth}}, weights->constant);
  MatMulAttrs attrs;
  attrs.transposeB = true;
  Node* product = graph.add(&ops::MatMul, conv->name, {rows, matrix}, attrs, conv);
  Value* result = product->output();
  if (conv->hasInput(2)) result = addBias(graph, *conv, result, conv);
  mergeOrigins(product, conv);
  replaceValue(graph, conv->output(), result);
}

}  // namespace camshaft
