// Windowed and global pooling.
#include "onnx/ops/pool.h"

#include <limits>

#include "ir/dispatch.h"
#include "onnx/formula.h"
#include "onnx/ops/reduce.h"
#include "onnx/ops/window.h"
#include "onnx/size.h"

namespace camshaft::onnx::importer {

namespace {

void setWindow(PoolAttrs& attrs, const Window& window) {
  attrs.kernel = window.kernel;
  attrs.strides = window.strides;
  attrs.dilations = window.dilations;
  attrs.padsBegin = window.padsBegin;
  attrs.padsEnd = window.padsEnd;
  attrs.ceilMode = window.ceilMode;
}

// What never is a maximum: a NaN loses to every number, and integers have a least one.
Value* loser(const NodeImport& node, DataType type) {
  if (isFloat(type)) return node.scalar(type, std::numeric_limits<double>::quiet_NaN());
  double least = 0;
  dispatch(type, [&](auto tag) {
    using T = Compute<decltype(tag)>;
    if constexpr (std::is_integral_v<T>)
      least = static_cast<double>(std::numeric_limits<T>::lowest());
  });
  return node.scalar(type, least);
}

// From flat positions in the padded tensor to those in x. A position in the padding is that of a
// window whose elements are all the least number: the first of them is as good.
Value* withoutPads(const NodeImport& node, Value* indices, const Value* seen, const Value* x,
                   const RunTimePads& pads, const PoolAttrs& attrs) {
  Formula formula;
  std::vector<Value*> operands{indices};
  const auto sizeOf = [&](const Dim& size) {
    operands.push_back(sizeTensor(node, size));
    return formula.input(static_cast<int>(operands.size()) - 1, DataType::kI64);
  };
  const auto rank = static_cast<int64_t>(attrs.kernel.size());
  Term rest = formula.input(0, DataType::kI64);
  Term step = formula.number(1, DataType::kI64), position = formula.number(0, DataType::kI64);
  for (int64_t k = 0; k < rank; ++k) {
    const int64_t i = attrs.columnMajorIndices ? k : rank - 1 - k;
    const Term wide = sizeOf(seen->shape()[2 + i]), size = sizeOf(x->shape()[2 + i]);
    const Term at = apply(ScalarOp::kMod, rest, wide) - sizeOf(pads.begin[i]);
    const double dilation = static_cast<double>(attrs.dilations[i]);
    const Term first = apply(ScalarOp::kMod, at, formula.number(dilation, DataType::kI64));
    position = position + where(at < 0, first, at) * step;
    rest = apply(ScalarOp::kFloorDiv, rest, wide);
    step = step * size;
  }
  return node.pointwise(std::move(operands), formula.take(position + rest * step));
}

// Averages over padded windows, divided by what they are where every element is one: the part of
// the window that is not padding.
Value* averageInside(const NodeImport& node, const Value* x, const RunTimePads& pads,
                     Value* averages, PoolAttrs attrs) {
  Shape shape = x->shape();
  shape[0] = shape[1] = 1;
  Value* ones = node.expand(node.scalar(x->dataType(), 1), std::move(shape));
  const Node* inside = node.addNode(&ops::Pool, {padded(node, ones, pads)}, std::move(attrs), 1);
  return node.binary(ScalarOp::kDiv, averages, inside->output());
}

}  // namespace

Pooled pool(const NodeImport& node, PoolAttrs attrs, Value* x, bool wantsIndices) {
  Window window = windowOf(node, {});
  if (window.rank() + 2 != x->rank())
    node.invalid("its kernel has ", window.rank(), " dimensions and its input has rank ",
                 x->rank());
  const bool isMax = attrs.kind == PoolKind::kMax;
  attrs.countIncludePad = attrs.kind == PoolKind::kAverage && node.flag("count_include_pad");
  const std::optional<RunTimePads> pads = padSame(node, window, x->shape());
  setWindow(attrs, window);
  Value* seen = pads ? padded(node, x, *pads, isMax ? loser(node, x->dataType()) : nullptr) : x;
  const Node* made = node.addNode(&ops::Pool, {seen}, attrs, wantsIndices ? 2 : 1);
  Pooled result{made->output(0), wantsIndices ? made->output(1) : nullptr};
  if (!pads) return result;
  if (wantsIndices) result.indices = withoutPads(node, result.indices, seen, x, *pads, attrs);
  if (attrs.kind == PoolKind::kAverage && !attrs.countIncludePad)
    result.y = averageInside(node, x, *pads, result.y, attrs);
  return result;
}

void importMaxPool(NodeImport& node) {
  PoolAttrs attrs;
  attrs.columnMajorIndices = node.integer("storage_order", 0) == 1;
  const Pooled result = pool(node, attrs, node.input(0), node.wants(1));
  node.setOutput(0, result.y);
  if (node.wants(1)) node.setOutput(1, result.indices);
}

void importAveragePool(NodeImport& node) {
  PoolAttrs attrs;
  attrs.kind = PoolKind::kAverage;
  node.setOutput(pool(node, attrs, node.input(0)).y);
}

void importLpPool(NodeImport& node) {
  PoolAttrs attrs;
  attrs.kind = PoolKind::kLp;
  attrs.p = node.opset() < 2 ? static_cast<int64_t>(node.number("p", 2)) : node.integer("p", 2);
  node.setOutput(pool(node, attrs, node.input(0)).y);
}

namespace {

const Ranks kPictures = Ranks::from(3);  // batch and channels before one dimension or more

Value* overSpace(const NodeImport& node, ReduceKind kind, Value* x) {
  return reduce(node, kind, x, axisRange(2, x->rank()));
}

}  // namespace

void importGlobalAveragePool(NodeImport& node) {
  node.setOutput(overSpace(node, ReduceKind::kMean, node.input(0, kPictures)));
}
void importGlobalMaxPool(NodeImport& node) {
  node.setOutput(overSpace(node, ReduceKind::kMax, node.input(0, kPictures)));
}

void importGlobalLpPool(NodeImport& node) {
  Value* x = node.input(0, kPictures);
  const double p =
      node.opset() < 2 ? node.number("p", 2) : static_cast<double>(node.integer("p", 2));
  if (p == 1 || p == 2)
    return node.setOutput(overSpace(node, p == 1 ? ReduceKind::kL1 : ReduceKind::kL2, x));
  Value* powers = node.binary(ScalarOp::kPow, node.unary(ScalarOp::kAbs, x), p);
  node.setOutput(node.binary(ScalarOp::kPow, overSpace(node, ReduceKind::kSum, powers), 1 / p));
}

}  // namespace camshaft::onnx::importer
