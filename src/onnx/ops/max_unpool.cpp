// MaxUnpool: maxima go back to where their indices say, among zeros.
#include "onnx/ops/window.h"
#include "onnx/size_rules.h"
#include "ops/index.h"
#include "ops/move.h"

namespace camshaft::onnx::importer {

void importMaxUnpool(NodeImport& node) {
  Value *x = node.input(0), *indices = node.input(1);
  const Window window = windowOf(node, {});
  if (window.rank() + 2 != x->rank())
    node.invalid("its kernel has ", window.rank(), " dimensions and its input has rank ",
                 x->rank());
  requireShape(node, indices, "indices", x->shape());
  Shape shape = x->shape();  // what the pooling saw, which the indices count in
  for (int64_t i = 0; i < window.rank(); ++i)
    shape[2 + i] = (shape[2 + i] - 1) * window.strides[i] + window.kernel[i] - window.padsBegin[i] -
                   window.padsEnd[i];
  const Dim count = numElements(x->shape());
  Value* zeros = node.expand(node.scalar(x->dataType(), 0), {numElements(shape)});
  Value* filled = node.add(&ops::ScatterElements,
                           {zeros, node.reshape(indices, {count}), node.reshape(x, {count})},
                           ScatterElementsAttrs{});
  Value* y = node.reshape(filled, shape);
  if (!node.hasInput(2)) return node.setOutput(y);

  const std::vector<Dim> wanted = node.dims(2);
  if (wanted.size() != shape.size())
    node.invalid("its output_shape has ", wanted.size(), " entries and its input has rank ",
                 x->rank());
  requireSize(node, wanted[0], "batches in its output_shape", shape[0]);
  requireSize(node, wanted[1], "channels in its output_shape", shape[1]);
  PadAttrs pad;
  for (size_t i = 0; i < shape.size(); ++i) {
    pad.begin.emplace_back(0);
    pad.end.push_back(wanted[i] - shape[i]);
  }
  node.setOutput(node.add(&ops::Pad, {y}, std::move(pad)));
}

}  // namespace camshaft::onnx::importer
