// A convolution of images that are one pixel, as after a global mean, is a matrix product.
//
//   %y = Conv(%x, %w, %b) {channels_last}           // x [N, 1, 1, C], w [M, C, 1, 1]
//   →
//   %m = MatMul(%x, %w') {transpose_b}              // w' [M, C]
//   %y = Pointwise(%m, %b) {add}
#include <algorithm>

#include "ir/rewrite.h"
#include "ops/conv.h"
#include "ops/matmul.h"
#include "ops/ops.h"
#include "ops/pointwise.h"
#include "passes/edit.h"
#include "passes/passes.h"

namespace camshaft {

static bool isOne(const Dim& dim) { return dim.isConstant(1); }
static bool isZero(int64_t pad) { return pad == 0; }

static bool convolvesPixels(const Node& conv) {
  const auto& attrs = conv.as<ConvAttrs>();
  const Value *x = conv.input(0), *weights = conv.input(1);
  const Shape &image = x->shape(), &kernel = weights->shape();
  return !conv.epilogue && attrs.channelsLast && attrs.groups == 1 && isFloat(x->dataType()) &&
         weights->isConstant() && image.size() > 2 &&
         (!conv.hasInput(2) || conv.input(2)->dataType() == x->dataType()) &&
         std::all_of(image.begin() + 1, image.end() - 1, isOne) &&
         std::all_of(kernel.begin() + 2, kernel.end(), isOne) &&
         std::all_of(attrs.padsBegin.begin(), attrs.padsBegin.end(), isZero) &&
         std::all_of(attrs.padsEnd.begin(), attrs.padsEnd.end(), isZero);
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

static void multiply(Graph& graph, Node* conv) {
  const Value* weights = conv->input(1);
  Value* matrix = graph.addConstant(
      weights->name, {weights->dataType(), {weights->shape()[0], weights->shape()[1]}},
      weights->constant);
  MatMulAttrs attrs;
  attrs.transposeB = true;
  Node* product = graph.add(&ops::MatMul, conv->name, {conv->input(0), matrix}, attrs, conv);
  Value* result = product->output();
  if (conv->hasInput(2)) result = addBias(graph, *conv, result, conv);
  mergeOrigins(product, conv);
  replaceValue(graph, conv->output(), result);
}

bool multiplyPixels(Graph& graph, const PassOptions& options) {
  if (!options.fusion.pixelProducts) return false;
  bool changed = false;
  for (Node* node : graph.nodeList()) {
    if (node->op != &ops::Conv || !convolvesPixels(*node)) continue;
    multiply(graph, node);
    changed = true;
  }
  graph.eraseUnusedConstants();
  return changed;
}

}  // namespace camshaft
