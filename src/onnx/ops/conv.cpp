#include "onnx/ops/conv.h"

#include <algorithm>

#include "onnx/ops/conv_run_time.h"
#include "onnx/ops/elementwise.h"
#include "onnx/ops/reduce.h"
#include "onnx/ops/window.h"
#include "ops/conv.h"

namespace camshaft::onnx::importer {

ConvAttrs convolutionOf(const NodeImport& node, Value*& x, Value* weights, Value* padding) {
  Window window = windowOf(node, kernelOf(node, x, weights));
  if (const auto pads = padSame(node, window, x->shape())) x = padded(node, x, *pads, padding);
  ConvAttrs attrs;
  attrs.strides = window.strides;
  attrs.dilations = window.dilations;
  attrs.padsBegin = window.padsBegin;
  attrs.padsEnd = window.padsEnd;
  attrs.groups = node.integer("group", 1);
  return attrs;
}

Value* convolve(const NodeImport& node, Value* x, Value* weights, Value* bias) {
  weights = weightsOf(node, weights);
  if (hasRunTimeWindow(weights)) return convolveAtRunTime(node, x, weights, bias);
  ConvAttrs attrs = convolutionOf(node, x, weights);
  std::vector<Value*> inputs{x, weights};
  if (bias) inputs.push_back(bias);
  return node.add(&ops::Conv, std::move(inputs), std::move(attrs));
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

// How much is cut off so that the output is as large as asked, or stride times the input for
// auto_pad SAME; a negative end adds. Nothing where neither is asked for.
std::optional<RunTimePads> cropsOf(const NodeImport& node, const Shape& input, const Shape& kernel,
                                   const ConvTransposeAttrs& attrs) {
  const std::vector<int64_t> asked = node.integers("output_shape");
  const int mode =
      node.choice("auto_pad", "notset", {"notset", "same_upper", "same_lower", "valid", ""});
  const bool same = mode == 1 || mode == 2;
  if (asked.empty() && !same) return std::nullopt;
  const size_t skipped = asked.size() > kernel.size() ? asked.size() - kernel.size() : 0;
  RunTimePads crops;
  for (size_t i = 0; i < kernel.size(); ++i) {
    const Dim &size = input[2 + i], extent = (kernel[i] - 1) * attrs.dilations[i] + 1;
    const Dim target = asked.empty() ? size * attrs.strides[i] : Dim(asked.at(skipped + i));
    const Dim total = (size - 1) * attrs.strides[i] + attrs.outputPadding[i] + extent - target;
    const Dim cut = max(total, 0), half = floorDiv(cut, 2);
    crops.begin.push_back(mode == 1 ? half : cut - half);
    crops.end.push_back(total - crops.begin.back());
  }
  return crops;
}

// As pads of the operator.
void setPads(ConvTransposeAttrs& attrs, const RunTimePads& crops) {
  for (size_t i = 0; i < crops.begin.size(); ++i) {
    const int64_t end = crops.end[i].value();
    attrs.padsBegin[i] = crops.begin[i].value();
    attrs.padsEnd[i] = std::max<int64_t>(end, 0);
    attrs.outputPadding[i] += std::max<int64_t>(-end, 0);
  }
}

// Where they are known at run time only: cut off the whole result. What is added is zero, to which
// the bias comes later.
Value* crop(const NodeImport& node, Value* y, const RunTimePads& crops) {
  RunTimePads pads;
  for (const Dim& begin : crops.begin) pads.begin.push_back(begin * -1);
  for (const Dim& end : crops.end) pads.end.push_back(end * -1);
  return padded(node, y, pads);
}

}  // namespace

void importConvTranspose(NodeImport& node) {
  Value *x = node.input(0), *weights = weightsOf(node, node.input(1));
  const bool isOpen = hasRunTimeWindow(weights);
  const Window window =
      isOpen ? attributesOf(node, x, weights) : windowOf(node, kernelOf(node, x, weights));
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
  std::vector<Value*> inputs{x, weights};
  Value* bias = node.optionalInput(2);
  const Shape kernel(weights->shape().begin() + 2, weights->shape().end());
  const std::optional<RunTimePads> crops = cropsOf(node, x->shape(), kernel, attrs);
  if (isOpen) {
    const RunTimePads given{makeShape(attrs.padsBegin), makeShape(attrs.padsEnd)};
    return node.setOutput(convolveTransposedAtRunTime(node, x, weights, bias, attrs.outputPadding,
                                                      crops.value_or(given)));
  }
  if (!crops || (isStatic(crops->begin) && isStatic(crops->end))) {
    if (crops) setPads(attrs, *crops);
    if (bias) inputs.push_back(bias);
    return node.setOutput(node.add(&ops::ConvTranspose, std::move(inputs), std::move(attrs)));
  }
  attrs.padsBegin = attrs.padsEnd = std::vector<int64_t>(window.kernel.size(), 0);
  Value* y = crop(node, node.add(&ops::ConvTranspose, std::move(inputs), std::move(attrs)), *crops);
  node.setOutput(bias ? node.binary(ScalarOp::kAdd, y, alongAxis(node, bias, 1, y->rank())) : y);
}

}  // namespace camshaft::onnx::importer
