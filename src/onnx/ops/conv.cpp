#include "onnx/ops/conv.h"

#include "onnx/ops/reduce.h"
#include "onnx/ops/window.h"
#include "ops/conv.h"

namespace camshaft::onnx::importer {

ConvAttrs convolutionOf(const NodeImport& node, Value* x, Value* weights) {
  Window window = windowOf(node, kernelOf(node, x, weights));
  padSame(node, window, x->shape());
  ConvAttrs attrs;
  attrs.strides = window.strides;
  attrs.dilations = window.dilations;
  attrs.padsBegin = window.padsBegin;
  attrs.padsEnd = window.padsEnd;
  attrs.groups = node.integer("group", 1);
  return attrs;
}

Value* convolve(const NodeImport& node, Value* x, Value* weights, Value* bias) {
  std::vector<Value*> inputs{x, weights};
  if (bias) inputs.push_back(bias);
  return node.add(&ops::Conv, std::move(inputs), convolutionOf(node, x, weights));
}

Value* channelsFirst(const NodeImport& node, Value* x) {
  std::vector<int64_t> order = axisRange(1, x->rank() - 1);
  order.insert(order.begin(), {0, x->rank() - 1});
  return node.transpose(x, std::move(order));
}

Value* channelsLast(const NodeImport& node, Value* x) {
  std::vector<int64_t> order = axisRange(2, x->rank());
  order.insert(order.begin(), 0);
  order.push_back(1);
  return node.transpose(x, std::move(order));
}

void importConv(NodeImport& node) {
  node.setOutput(convolve(node, node.input(0), node.input(1), node.optionalInput(2)));
}

namespace {

// Pads that make the output as large as asked, or stride times the input for auto_pad SAME.
void fitOutput(const NodeImport& node, const Shape& input, const Window& window,
               ConvTransposeAttrs& attrs) {
  const std::vector<int64_t> asked = node.integers("output_shape");
  const int mode =
      node.choice("auto_pad", "notset", {"notset", "same_upper", "same_lower", "valid", ""});
  const bool same = mode == 1 || mode == 2;
  if (asked.empty() && !same) return;
  const size_t skipped =
      asked.size() > window.kernel.size() ? asked.size() - window.kernel.size() : 0;
  for (int64_t i = 0; i < window.rank(); ++i) {
    const Dim& size = input[2 + i];
    const Dim target = asked.empty() ? size * window.strides[i] : Dim(asked[skipped + i]);
    const Dim total =
        (size - 1) * window.strides[i] + attrs.outputPadding[i] + window.extent(i) - target;
    if (!total.isConstant())
      node.unsupported("its output_shape needs a known size for dimension ", 2 + i);
    const int64_t pad = std::max<int64_t>(total.value(), 0);
    attrs.outputPadding[i] += std::max<int64_t>(-total.value(), 0);
    attrs.padsBegin[i] = mode == 1 ? pad / 2 : pad - pad / 2;
    if (mode == 0) attrs.padsBegin[i] = pad / 2;
    attrs.padsEnd[i] = pad - attrs.padsBegin[i];
  }
}

}  // namespace

void importConvTranspose(NodeImport& node) {
  Value *x = node.input(0), *weights = node.input(1);
  const Window window = windowOf(node, kernelOf(node, x, weights));
  ConvTransposeAttrs attrs;
  attrs.strides = window.strides;
  attrs.dilations = window.dilations;
  attrs.padsBegin = window.padsBegin;
  attrs.padsEnd = window.padsEnd;
  attrs.outputPadding =
      node.integers("output_padding", std::vector<int64_t>(window.kernel.size(), 0));
  attrs.groups = node.integer("group", 1);
  if (attrs.outputPadding.size() != window.kernel.size())
    node.invalid("its output_padding has the wrong length");
  fitOutput(node, x->shape(), window, attrs);
  std::vector<Value*> inputs{x, weights};
  if (node.hasInput(2)) inputs.push_back(node.input(2));
  node.setOutput(node.add(&ops::ConvTranspose, std::move(inputs), std::move(attrs)));
}

}  // namespace camshaft::onnx::importer
