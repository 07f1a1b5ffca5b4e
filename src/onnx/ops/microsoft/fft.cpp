// Fourier transforms of com.microsoft, and products of complex numbers.
#include "onnx/node_import.h"
#include "onnx/size_rules.h"
#include "ops/signal.h"

namespace camshaft::onnx::importer {

namespace {

// (a + bi)(c + di), or (a + bi)(c - di), with real and imaginary parts in the last dimension.
void importComplexProduct(NodeImport& node, bool conjugate) {
  const auto part = [&](int input, int64_t i) {
    Value* x = node.input(input, Ranks::from(1));
    requireSize(node, x->shape().back(), "parts of a complex number", 2);
    return node.slice(x, x->rank() - 1, i, 1);
  };
  Value *a = part(0, 0), *b = part(0, 1), *c = part(1, 0), *d = part(1, 1);
  const auto mul = [&](Value* x, Value* y) { return node.binary(ScalarOp::kMul, x, y); };
  const ScalarOp with = conjugate ? ScalarOp::kAdd : ScalarOp::kSub,
                 against = conjugate ? ScalarOp::kSub : ScalarOp::kAdd;
  Value* real = node.binary(with, mul(a, c), mul(b, d));
  Value* imaginary = node.binary(against, mul(b, c), mul(a, d));
  node.setOutput(node.concat({real, imaginary}, real->rank() - 1));
}

void importRealFourier(NodeImport& node, bool inverse) {
  if (node.integer("signal_ndim", 1) != 1)
    node.unsupported("transforms of ", node.integer("signal_ndim", 1),
                     " dimensions at once are not supported");
  if (node.flag("normalized") || !node.flag("onesided", true))
    node.unsupported("only one-sided transforms without normalisation are supported");
  Value* x = node.input(0, Ranks::from(inverse ? 2 : 1));
  if (!inverse) {  // one column of real parts
    Shape column = x->shape();
    column.push_back(1);
    x = node.reshape(x, std::move(column));
  }
  DftAttrs attrs;
  attrs.axis = x->rank() - 2;
  attrs.inverse = inverse;
  attrs.oneSided = true;
  const Dim& size = x->shape()[attrs.axis];
  attrs.length = inverse ? (size - 1) * 2 : size;
  Value* y = node.add(&ops::Dft, {x}, std::move(attrs));
  if (inverse) y = node.reshape(y, {y->shape().begin(), y->shape().end() - 1});
  node.setOutput(y);
}

}  // namespace

void importComplexMul(NodeImport& node) { importComplexProduct(node, false); }
void importComplexMulConj(NodeImport& node) { importComplexProduct(node, true); }
void importRfft(NodeImport& node) { importRealFourier(node, false); }
void importIrfft(NodeImport& node) { importRealFourier(node, true); }

}  // namespace camshaft::onnx::importer
