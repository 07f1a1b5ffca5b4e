// Fourier transforms, of whole signals and of frames, and bands of the mel scale.
#include "ops/signal.h"

#include "onnx/ops/range.h"
#include "onnx/size.h"
#include "ops/index.h"

namespace camshaft::onnx::importer {

namespace {

Dim scalarSize(const NodeImport& node, int i) {
  const std::vector<Dim> values = node.dims(i);
  if (values.size() != 1) node.invalid("its input '", node.input(i)->name, "' must be a scalar");
  return values[0];
}

}  // namespace

void importDFT(NodeImport& node) {
  Value* x = node.input(0);
  // Opset 17 had the axis as an attribute and counted from the first signal dimension.
  int64_t axis = -2;
  if (node.opset() < 20) {
    axis = node.integer("axis", 1);
  } else if (node.hasInput(2)) {
    const std::vector<int64_t> given = node.constantIntegers(2, "axis");
    if (given.size() != 1) node.invalid("its axis must be a scalar");
    axis = given[0];
  }
  DftAttrs attrs;
  attrs.axis = node.axis(axis, x->rank());
  attrs.inverse = node.flag("inverse");
  attrs.oneSided = node.flag("onesided");
  const Dim& size = x->shape()[attrs.axis];
  attrs.length = node.hasInput(1)                  ? scalarSize(node, 1)
                 : attrs.inverse && attrs.oneSided ? (size - 1) * 2
                                                   : size;
  node.setOutput(node.add(&ops::Dft, {x}, std::move(attrs)));
}

void importSTFT(NodeImport& node) {
  Value* signal = node.input(0, 3);
  const Dim &batch = signal->shape()[0], &size = signal->shape()[1], &parts = signal->shape()[2];
  const Dim step = scalarSize(node, 1);
  Value* window = node.optionalInput(2, 1);
  const Dim length = node.hasInput(3) ? scalarSize(node, 3) : window ? window->shape()[0] : size;
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
  if (window)
    framed = node.binary(ScalarOp::kMul, framed, node.reshape(window, {window->shape()[0], 1}));
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
