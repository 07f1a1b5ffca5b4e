#include "onnx/ops/window.h"

#include <algorithm>

namespace camshaft::onnx::importer {

std::vector<int64_t> kernelOf(const NodeImport& node, const Value* x, const Value* weights) {
  if (x->rank() < 3) node.invalid("its input must have rank 3 or more and has ", x->rank());
  if (weights->rank() != x->rank())
    node.invalid("its weights have rank ", weights->rank(), " and its input has rank ", x->rank());
  const Shape kernel(weights->shape().begin() + 2, weights->shape().end());
  if (!isStatic(kernel))
    node.unsupported("its weights ('", weights->name, "') must have a known shape");
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

void padSame(const NodeImport& node, Window& window, const Shape& input) {
  const int mode =
      node.choice("auto_pad", "notset", {"notset", "same_upper", "same_lower", "valid", ""});
  if (mode == 3) window.padsBegin = window.padsEnd = std::vector<int64_t>(window.kernel.size(), 0);
  if (mode != 1 && mode != 2) return;
  window.ceilMode = false;  // the padding already decides the output size
  for (int64_t i = 0; i < window.rank(); ++i) {
    const Dim& size = input[2 + i];
    const int64_t stride = window.strides[i];
    if (!size.isConstant() && stride != 1)
      node.unsupported("auto_pad ", node.text("auto_pad", ""), " with a stride of ", stride,
                       " needs a known size for dimension ", 2 + i,
                       ": give explicit pads or a fixed size");
    const int64_t covered = stride == 1 ? window.extent(i) - 1
                                        : ((size.value() + stride - 1) / stride - 1) * stride +
                                              window.extent(i) - size.value();
    const int64_t total = std::max<int64_t>(covered, 0);
    window.padsBegin[i] = mode == 1 ? total / 2 : total - total / 2;
    window.padsEnd[i] = total - window.padsBegin[i];
  }
}

}  // namespace camshaft::onnx::importer
