#include "onnx/ops/conv_run_time.h"

#include "onnx/ops/range.h"
#include "onnx/size.h"
#include "onnx/size_rules.h"
#include "ops/gemm.h"
#include "ops/index.h"
#include "ops/move.h"

namespace camshaft::onnx::importer {

bool hasRunTimeWindow(const Value* weights) {
  return weights->rank() > 2 && !isStatic({weights->shape().begin() + 2, weights->shape().end()});
}

Window attributesOf(const NodeImport& node, const Value* x, const Value* weights) {
  if (x->rank() < 3 || weights->rank() != x->rank())
    node.invalid("its weights have rank ", weights->rank(), " and its input has rank ", x->rank(),
                 ", which must be the same and 3 or more");
  return windowOf(node, std::vector<int64_t>(static_cast<size_t>(x->rank() - 2), 1));
}

Value* multiplyColumns(const NodeImport& node, Value* weights, Value* columns, const Shape& windows,
                       Value* bias) {
  const int64_t groups = node.integer("group", 1);
  if (groups < 1) node.invalid("its group must be positive and is ", groups);
  const Shape& shape = weights->shape();
  const Dim &batch = columns->shape()[0], &filters = shape[0];
  const Dim rows = numElements({shape.begin() + 1, shape.end()});
  requireSize(node, columns->shape()[1], "channels", shape[1] * groups);
  Value* matrix = node.reshape(weights, {groups, floorDiv(filters, groups), rows});
  Value* split = node.reshape(columns, {batch, groups, rows, numElements(windows)});
  Value* product = node.add(&ops::MatMul, {matrix, split}, MatMulAttrs{});
  Shape result{batch, filters};
  result.insert(result.end(), windows.begin(), windows.end());
  Value* y = node.reshape(product, std::move(result));
  if (!bias) return y;
  Shape perFilter(windows.size() + 1, Dim(1));
  perFilter[0] = filters;
  return node.binary(ScalarOp::kAdd, y, node.reshape(bias, std::move(perFilter)));
}

namespace {

// One spatial dimension, whose input has its pads.
struct SlidingAxis {
  Dim taps, windows;
  int64_t stride, dilation;
};

Dim extentOf(const Dim& taps, int64_t dilation) { return (taps - 1) * dilation + 1; }

SlidingAxis slideOver(const NodeImport& node, const Dim& padded, const Dim& taps, int64_t stride,
                      int64_t dilation) {
  const Dim windows = floorDiv(padded - extentOf(taps, dilation), stride) + 1;
  const std::string who = str("node '", node.name(), "' (", node.opType(), ") has ");
  node.graph().require({SizeRelation::kAtLeast, taps, 1, who,
                        " taps in a dimension of its window where it needs at least ", ""});
  node.graph().require(
      {SizeRelation::kAtLeast, windows, 1, who,
       str(" windows of ", taps, " elements in its padded input where it needs at least "), ""});
  return {taps, windows, stride, dilation};
}

// [N, C, spatial...] as [N, C, taps..., windows...]; `backwards`, the last tap comes first.
Value* columnsOf(const NodeImport& node, Value* x, const std::vector<SlidingAxis>& axes,
                 bool backwards) {
  std::vector<int64_t> order{0, 1};
  for (size_t i = 0; i < axes.size(); ++i) {
    const auto& [taps, windows, stride, dilation] = axes[i];
    const auto steps = [&](const Dim& count, int64_t by) {
      return node.binary(ScalarOp::kMul, counting(node, DataType::kI64, count),
                         static_cast<double>(by));
    };
    Value* reach = steps(taps, dilation);
    if (backwards)
      reach = node.binary(ScalarOp::kSub, sizeTensor(node, (taps - 1) * dilation), reach);
    GatherAttrs along;
    along.axis = 2 + 2 * static_cast<int64_t>(i);  // those before are two dimensions now
    Value* places =
        node.binary(ScalarOp::kAdd, node.reshape(reach, {taps, 1}), steps(windows, stride));
    x = node.add(&ops::Gather, {x, places}, along);
    order.push_back(along.axis);
  }
  for (size_t i = 0; i < axes.size(); ++i) order.push_back(3 + 2 * static_cast<int64_t>(i));
  return node.transpose(x, std::move(order));
}

Shape windowsOf(const std::vector<SlidingAxis>& axes) {
  Shape windows;
  for (const SlidingAxis& axis : axes) windows.push_back(axis.windows);
  return windows;
}

}  // namespace

Value* convolveAtRunTime(const NodeImport& node, Value* x, Value* weights, Value* bias) {
  const Window window = attributesOf(node, x, weights);
  const int mode =
      node.choice("auto_pad", "notset", {"notset", "same_upper", "same_lower", "valid", ""});
  RunTimePads pads;
  std::vector<SlidingAxis> axes;
  for (int64_t i = 0; i < window.rank(); ++i) {
    const Dim &size = x->shape()[2 + i], &taps = weights->shape()[2 + i];
    const int64_t stride = window.strides[i], dilation = window.dilations[i];
    const Dim missing = (ceilDiv(size, stride) - 1) * stride + extentOf(taps, dilation) - size;
    const Dim same = max(missing, 0), half = floorDiv(same, 2);
    const bool isExplicit = mode == 0 || mode == 4, isSame = mode == 1 || mode == 2;
    pads.begin.push_back(isExplicit ? Dim(window.padsBegin[i])
                         : isSame   ? mode == 1 ? half : same - half
                                    : Dim(0));
    pads.end.push_back(isExplicit ? Dim(window.padsEnd[i])
                       : isSame   ? same - pads.begin.back()
                                  : Dim(0));
    const Dim padded = size + pads.begin.back() + pads.end.back();
    axes.push_back(slideOver(node, padded, taps, stride, dilation));
  }
  Value* columns = columnsOf(node, padded(node, x, pads), axes, false);
  return multiplyColumns(node, weights, columns, windowsOf(axes), bias);
}

namespace {

// `stride - 1` zeros behind every element of each spatial dimension.
Value* spreadOut(const NodeImport& node, Value* x, const std::vector<int64_t>& strides) {
  PadAttrs zeros;
  zeros.begin.assign(2 + 2 * strides.size(), Dim(0));
  zeros.end = zeros.begin;
  Shape columns{x->shape()[0], x->shape()[1]}, spread = columns;
  for (size_t i = 0; i < strides.size(); ++i) {
    const Dim& size = x->shape()[2 + i];
    columns.insert(columns.end(), {size, Dim(1)});
    zeros.end[3 + 2 * i] = strides[i] - 1;
    spread.push_back(size * strides[i]);
  }
  Value* padded = node.add(&ops::Pad, {node.reshape(x, std::move(columns))}, std::move(zeros));
  return node.reshape(padded, std::move(spread));
}

// [C, M/groups, kernel...] as a convolution's [M, C/groups, kernel...].
Value* filtersFirst(const NodeImport& node, Value* weights) {
  const int64_t groups = node.integer("group", 1);
  if (groups < 1) node.invalid("its group must be positive and is ", groups);
  const Shape in = weights->shape();
  const Dim perGroup = floorDiv(in[0], groups);
  Shape split{groups, perGroup, in[1]}, joined{in[1] * groups, perGroup};
  split.insert(split.end(), in.begin() + 2, in.end());
  joined.insert(joined.end(), in.begin() + 2, in.end());
  std::vector<int64_t> order{0, 2, 1};
  for (int64_t i = 2; i < weights->rank(); ++i) order.push_back(i + 1);
  return node.reshape(node.transpose(node.reshape(weights, std::move(split)), std::move(order)),
                      std::move(joined));
}

}  // namespace

// The convolution, from the last tap to the first, of the input with its elements a stride apart.
Value* convolveTransposedAtRunTime(const NodeImport& node, Value* x, Value* weights, Value* bias,
                                   const std::vector<int64_t>& outputPadding,
                                   const RunTimePads& crops) {
  const Window window = attributesOf(node, x, weights);
  RunTimePads pads;
  std::vector<SlidingAxis> axes;
  for (int64_t i = 0; i < window.rank(); ++i) {
    const Dim &size = x->shape()[2 + i], &taps = weights->shape()[2 + i];
    const int64_t stride = window.strides[i], dilation = window.dilations[i];
    const Dim around = extentOf(taps, dilation) - 1;
    pads.begin.push_back(around - crops.begin[i]);
    pads.end.push_back(around - crops.end[i] + outputPadding[i] - (stride - 1));
    const Dim padded = size * stride + pads.begin.back() + pads.end.back();
    axes.push_back(slideOver(node, padded, taps, 1, dilation));
  }
  Value* spread = padded(node, spreadOut(node, x, window.strides), pads);
  return multiplyColumns(node, filtersFirst(node, weights), columnsOf(node, spread, axes, true),
                         windowsOf(axes), bias);
}

}  // namespace camshaft::onnx::importer
