#include "onnx/ops/window.h"

#include <algorithm>

#include "onnx/size_rules.h"
#include "ops/move.h"

namespace camshaft::onnx::importer {

Value* weightsOf(const NodeImport& node, Value* weights) {
  const std::vector<int64_t> declared = node.integers("kernel_shape");
  if (weights->rank() != static_cast<int64_t>(declared.size()) + 2) return weights;
  Shape shape = weights->shape();
  for (size_t i = 0; i < declared.size(); ++i) {
    if (shape[2 + i].isConstant()) continue;
    requireSize(node, shape[2 + i], str("taps in dimension ", i, " of its window"), declared[i]);
    shape[2 + i] = declared[i];
  }
  return node.reshape(weights, std::move(shape));
}

std::vector<int64_t> kernelOf(const NodeImport& node, const Value* x, const Value* weights) {
  if (x->rank() < 3) node.invalid("its input must have rank 3 or more and has ", x->rank());
  if (weights->rank() != x->rank())
    node.invalid("its weights have rank ", weights->rank(), " and its input has rank ", x->rank());
  const Shape kernel(weights->shape().begin() + 2, weights->shape().end());
  // Kernels are chosen, and their loops laid out, for one window: its size has to be known here.
  if (!isStatic(kernel))
    node.unsupported("its weights ('", weights->name,
                     "') have spatial sizes known at run time only: give it the attribute "
                     "kernel_shape");
  return staticDims(kernel);
}

namespace {

constexpr int64_t kMaxReach = 1 << 30;  // so that their products stay within 64 bits

std::vector<int64_t> perAxis(const NodeImport& node, std::string_view attribute, size_t count,
                             int64_t missing) {
  std::vector<int64_t> values = node.integers(attribute, std::vector<int64_t>(count, missing));
  if (values.size() != count)
    node.invalid("its attribute '", attribute, "' has ", values.size(), " entries where ", count,
                 " are needed");
  return values;
}

}  // namespace

Window windowOf(const NodeImport& node, std::vector<int64_t> kernel) {
  Window window;
  const std::vector<int64_t> declared = node.integers("kernel_shape", kernel);
  if (kernel.empty()) kernel = declared;
  if (kernel.empty()) node.invalid("it lacks its required attribute 'kernel_shape'");
  if (declared != kernel) node.invalid("its kernel_shape differs from its weights' shape");
  window.kernel = std::move(kernel);
  const size_t rank = window.kernel.size();
  window.strides = perAxis(node, "strides", rank, 1);
  window.dilations = perAxis(node, "dilations", rank, 1);
  const std::vector<int64_t> pads = perAxis(node, "pads", rank * 2, 0);
  window.padsBegin.assign(pads.begin(), pads.begin() + rank);
  window.padsEnd.assign(pads.begin() + rank, pads.end());
  window.ceilMode = node.flag("ceil_mode");
  const auto within = [&](const std::vector<int64_t>& values, int64_t least) {
    return std::all_of(values.begin(), values.end(),
                       [&](int64_t v) { return v >= least && v <= kMaxReach; });
  };
  if (!within(window.kernel, 1) || !within(window.strides, 1) || !within(window.dilations, 1) ||
      !within(pads, -kMaxReach))
    node.invalid(
        "its kernel, strides and dilations must be positive, and these and its pads at most ",
        kMaxReach);
  return window;
}

namespace {

// All pads of a dimension together. Windows as large as the stride leave no gap, so that the last
// one always ends at the input's end or behind it.
Dim samePads(const Window& window, int64_t i, const Dim& size) {
  const int64_t stride = window.strides[i], extent = window.extent(i);
  if (stride == 1) return extent - 1;
  if (extent == 1) return 0;
  const Dim covered = (ceilDiv(size, stride) - 1) * stride + extent - size;
  return extent >= stride && !size.isConstant() ? covered : max(covered, 0);
}

}  // namespace

Value* padded(const NodeImport& node, Value* x, const RunTimePads& pads, Value* number) {
  PadAttrs attrs;
  attrs.begin = attrs.end = {0, 0};
  attrs.begin.insert(attrs.begin.end(), pads.begin.begin(), pads.begin.end());
  attrs.end.insert(attrs.end.end(), pads.end.begin(), pads.end.end());
  std::vector<Value*> inputs{x};
  if (number) inputs.push_back(number);
  return node.add(&ops::Pad, std::move(inputs), std::move(attrs));
}

std::optional<RunTimePads> padSame(const NodeImport& node, Window& window, const Shape& input) {
  const int mode =
      node.choice("auto_pad", "notset", {"notset", "same_upper", "same_lower", "valid", ""});
  const std::vector<int64_t> none(window.kernel.size(), 0);
  if (mode == 3) window.padsBegin = window.padsEnd = none;
  if (mode != 1 && mode != 2) return std::nullopt;
  window.ceilMode = false;  // the padding already decides the output size
  RunTimePads pads;
  for (int64_t i = 0; i < window.rank(); ++i) {
    const Dim total = samePads(window, i, input[2 + i]), half = floorDiv(total, 2);
    pads.begin.push_back(mode == 1 ? half : total - half);
    pads.end.push_back(total - pads.begin.back());
  }
  if (isStatic(pads.begin) && isStatic(pads.end)) {
    window.padsBegin = staticDims(pads.begin);
    window.padsEnd = staticDims(pads.end);
    return std::nullopt;
  }
  window.padsBegin = window.padsEnd = none;
  return pads;
}

}  // namespace camshaft::onnx::importer
