// Convolution of moved taps, and columns put back where they came from.
#include "ops/columns.h"

#include "onnx/ops/window.h"
#include "ops/matmul.h"

namespace camshaft::onnx::importer {

namespace {

template <class Attrs>
void setWindow(Attrs& attrs, const Window& window) {
  attrs.kernel = window.kernel;
  attrs.strides = window.strides;
  attrs.dilations = window.dilations;
  attrs.padsBegin = window.padsBegin;
  attrs.padsEnd = window.padsEnd;
}

}  // namespace

// A product of the weights with what every tap sees.
void importDeformConv(NodeImport& node) {
  Value *x = node.input(0, 4), *weights = node.input(1, 4), *offsets = node.input(2, 4);
  const int64_t groups = node.integer("group", 1);
  DeformColumnsAttrs attrs;
  setWindow(attrs, windowOf(node, kernelOf(node, x, weights)));
  attrs.groups = node.integer("offset_group", 1);
  const int64_t taps = attrs.kernel[0] * attrs.kernel[1];
  const Dim &channels = x->shape()[1], &filters = weights->shape()[0];
  if (groups < 1 || !(channels.isConstant() && filters.isConstant()) ||
      weights->shape()[1] * groups != channels || filters.value() % groups != 0)
    node.invalid("its weights ", weights->type, " do not fit an input ", x->type, " in ", groups,
                 " groups");
  std::vector<Value*> inputs{x, offsets};
  if (node.hasInput(4)) inputs.push_back(node.input(4));
  Value* columns = node.add(&ops::DeformColumns, std::move(inputs), std::move(attrs));

  const Dim rows = weights->shape()[1] * taps, windows = columns->shape()[3];
  Value* matrix = node.reshape(weights, {groups, filters.value() / groups, rows});
  Value* split = node.reshape(columns, {x->shape()[0], groups, rows, windows});
  Value* product = node.add(&ops::MatMul, {matrix, split}, MatMulAttrs{});
  Value* y =
      node.reshape(product, {x->shape()[0], filters, offsets->shape()[2], offsets->shape()[3]});
  if (node.hasInput(3))
    y = node.binary(ScalarOp::kAdd, y, node.reshape(node.input(3), {filters, 1, 1}));
  node.setOutput(y);
}

void importCol2Im(NodeImport& node) {
  FoldColumnsAttrs attrs;
  attrs.sizes = node.dims(1);
  setWindow(attrs, windowOf(node, node.constantIntegers(2, "block_shape")));
  if (attrs.kernel.size() != attrs.sizes.size())
    node.invalid("its block_shape has ", attrs.kernel.size(), " entries and its image_shape ",
                 attrs.sizes.size());
  node.setOutput(node.add(&ops::FoldColumns, {node.input(0)}, std::move(attrs)));
}

}  // namespace camshaft::onnx::importer
