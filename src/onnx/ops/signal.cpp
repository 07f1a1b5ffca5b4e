// Fourier transforms, of whole signals and of frames, and bands of the mel scale.
#include "ops/signal.h"

#include "onnx/formula.h"
#include "onnx/ops/range.h"
#include "onnx/ops/reduce.h"
#include "onnx/size.h"
#include "onnx/size_rules.h"
#include "ops/index.h"
#include "ops/move.h"
#include "ops/shape.h"

namespace camshaft::onnx::importer {

namespace {

Dim scalarSize(const NodeImport& node, int i) {
  const std::vector<Dim> values = node.dims(i);
  if (values.size() != 1) node.invalid("its input '", node.input(i)->name, "' must be a scalar");
  return values[0];
}

// x with a known number of parts, real and imaginary, in its last dimension. What has a real part
// alone may as well have an imaginary one of zero.
Value* withParts(const NodeImport& node, Value* x, bool mustBeReal) {
  const Dim parts = x->shape().back();
  if (parts.isConstant()) return x;
  if (mustBeReal) {
    node.graph().require({SizeRelation::kEqual, parts, 1,
                          str("node '", node.name(), "' (", node.opType(), "): its signal has "),
                          " parts, real and imaginary, where a one-sided spectrum takes ", ""});
    return node.slice(x, x->rank() - 1, 0, 1);
  }
  PadAttrs attrs;
  attrs.begin.assign(static_cast<size_t>(x->rank()), 0);
  attrs.end = attrs.begin;
  attrs.end.back() = 2 - parts;
  return node.add(&ops::Pad, {x}, std::move(attrs));
}

DftAttrs transformOf(const NodeImport& node, const Dim& size) {
  DftAttrs attrs;
  attrs.inverse = node.flag("inverse");
  attrs.oneSided = node.flag("onesided");
  attrs.length = node.hasInput(1)                  ? scalarSize(node, 1)
                 : attrs.inverse && attrs.oneSided ? (size - 1) * 2
                                                   : size;
  return attrs;
}

// Sizes before the axis, of the axis, and between it and the last dimension, each multiplied: x is
// [before, axis, behind, parts] whichever axis it is.
std::vector<Dim> sizesAround(const NodeImport& node, const Value* x, Value* sizes, Value* axis) {
  const auto product = [&](auto&& isMeant) {
    Formula formula;
    const Term at = formula.input(0, DataType::kI64), from = formula.input(1, DataType::kI64);
    const Term size = where(isMeant(at - from), formula.input(2, DataType::kI64), 1);
    Value* places = counting(node, DataType::kI64, x->rank() - 1);
    Value* meant = node.pointwise({places, axis, sizes}, formula.take(size));
    return reduce(node, ReduceKind::kProd, meant, {0});
  };
  Value* products = node.concat({product([](Term distance) { return distance < 0; }),
                                 product([](Term distance) { return distance == 0; }),
                                 product([](Term distance) { return distance > 0; })},
                                0);
  Dim most = 1;
  for (int64_t i = 0; i + 1 < x->rank(); ++i) most *= max(x->shape()[i], 1);
  return boundedSizes(node.graph(), products, {most, most, most}, node.name());
}

Value* transformAtRunTime(const NodeImport& node, Value* x, Value* given) {
  const int64_t signalRank = x->rank() - 1;
  Formula formula;
  const Term at = cast(formula.input(0, given->dataType()), DataType::kI64);
  const Term resolved = where(at < 0, at + static_cast<double>(x->rank()), at);
  Value* axis = node.pointwise({node.reshape(given, {})}, formula.take(resolved));
  const Shape signal(x->shape().begin(), x->shape().end() - 1);
  Value* sizes = addDims(node.graph(), node.name(), signal);
  const std::vector<Dim> around = sizesAround(node, x, sizes, axis);
  DftAttrs attrs = transformOf(node, around[1]);
  attrs.axis = 1;
  Value* flat = node.reshape(x, {around[0], around[1], around[2], x->shape().back()});
  Value* y = node.add(&ops::Dft, {flat}, std::move(attrs));

  Formula chosen;
  const Term isAxis = chosen.input(0, DataType::kI64) == chosen.input(1, DataType::kI64);
  const Term size = where(isAxis, chosen.input(2, DataType::kI64), chosen.input(3, DataType::kI64));
  Value* after = node.pointwise(
      {counting(node, DataType::kI64, signalRank), axis, sizeTensor(node, y->shape()[1]), sizes},
      chosen.take(size));
  std::vector<Dim> most;
  for (const Dim& size : signal) most.push_back(max(size, y->shape()[1]));
  Shape shape = boundedSizes(node.graph(), after, most, node.name());
  shape.push_back(y->shape().back());
  return node.reshape(y, std::move(shape));
}

}  // namespace

void importDFT(NodeImport& node) {
  Value* x = withParts(node, node.input(0, Ranks::from(2)),
                       node.flag("onesided") && !node.flag("inverse"));
  // Opset 17 had the axis as an attribute and counted from the first signal dimension.
  int64_t axis = -2;
  if (node.opset() < 20) {
    axis = node.integer("axis", 1);
  } else if (node.hasInput(2)) {
    const auto given = node.knownIntegers(node.input(2));
    if (!given) return node.setOutput(transformAtRunTime(node, x, node.input(2)));
    if (given->size() != 1) node.invalid("its axis must be a scalar");
    axis = given->front();
  }
  axis = node.axis(axis, x->rank());
  DftAttrs attrs = transformOf(node, x->shape()[axis]);
  attrs.axis = axis;
  node.setOutput(node.add(&ops::Dft, {x}, std::move(attrs)));
}

// Real signals may come without the dimension for their parts, which ONNX Runtime takes too.
void importSTFT(NodeImport& node) {
  Value* signal = node.input(0, {2, 3});
  if (signal->rank() == 2)
    signal = node.reshape(signal, {signal->shape()[0], signal->shape()[1], 1});
  signal = withParts(node, signal, node.flag("onesided", true));
  const Dim &batch = signal->shape()[0], &size = signal->shape()[1], &parts = signal->shape()[2];
  const Dim step = scalarSize(node, 1);
  Value* window = node.optionalInput(2, 1);
  const Dim length = node.hasInput(3) ? scalarSize(node, 3) : window ? window->shape()[0] : size;
  node.graph().require({SizeRelation::kAtLeast, size, length,
                        str("node '", node.name(), "' (STFT): its signal has "),
                        " samples where a frame has ", ""});
  const Dim frames = floorDiv(size - length, step) + 1;

  // Frame f begins at sample f * step.
  Value* starts =
      node.binary(ScalarOp::kMul, counting(node, DataType::kI64, frames), sizeTensor(node, step));
  Value* places = node.binary(ScalarOp::kAdd, node.reshape(starts, {frames, 1}),
                              counting(node, DataType::kI64, length));
  GatherAttrs along;
  along.axis = 1;
  Value* framed =
      node.add(&ops::Gather, {signal, places}, along);  // [batch, frames, length, parts]
  if (window) {
    requireSize(node, window->shape()[0], "elements in its window", length);
    framed = node.binary(ScalarOp::kMul, framed, node.reshape(window, {window->shape()[0], 1}));
  }
  DftAttrs attrs;
  attrs.axis = 2;
  attrs.length = length;
  attrs.oneSided = node.flag("onesided", true) && parts.isConstant(1);
  node.setOutput(node.add(&ops::Dft, {node.reshape(framed, {batch, frames, length, parts})},
                          std::move(attrs)));
}

void importMelWeightMatrix(NodeImport& node) {
  MelWeightsAttrs attrs;
  attrs.melBins = scalarSize(node, 0);
  attrs.bins = floorDiv(scalarSize(node, 1), 2) + 1;
  attrs.type = node.dataType("output_datatype", DataType::kF32);
  node.setOutput(node.add(&ops::MelWeights,
                          {node.input(1), node.input(2), node.input(3), node.input(4)},
                          std::move(attrs)));
}

}  // namespace camshaft::onnx::importer
