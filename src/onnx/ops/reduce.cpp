// Reductions along axes.
#include "onnx/ops/reduce.h"

#include "onnx/ops/run_time_axes.h"

namespace camshaft::onnx::importer {

std::vector<int64_t> axisRange(int64_t begin, int64_t end) {
  std::vector<int64_t> axes;
  for (int64_t i = begin; i < end; ++i) axes.push_back(i);
  return axes;
}

Value* reduce(const NodeImport& node, ReduceKind kind, Value* x, std::vector<int64_t> axes,
              bool keepDims) {
  ReduceAttrs attrs;
  attrs.kind = kind;
  attrs.axes = std::move(axes);
  attrs.keepDims = keepDims;
  return node.add(&ops::Reduce, {x}, std::move(attrs));
}

namespace {

bool isKnown(const NodeImport& node, const Value* axes) {
  const bool isEmpty = axes->rank() == 1 && axes->shape()[0].isConstant(0);
  return isEmpty || node.knownIntegers(axes);
}

// Axes moved from attribute to input at opset 13 for ReduceSum and 18 for the others.
std::vector<int64_t> reducedAxes(const NodeImport& node, int64_t rank) {
  std::vector<int64_t> axes = node.integers("axes");
  if (node.hasInput(1)) axes = node.knownIntegers(node.input(1)).value_or(axes);
  if (axes.empty()) return node.flag("noop_with_empty_axes") ? axes : axisRange(0, rank);
  return node.axes(std::move(axes), rank);
}

}  // namespace

void importReduce(NodeImport& node, ReduceKind kind) {
  Value* x = node.input(0);
  const DataType type = x->dataType();
  if (type == DataType::kBool) x = node.cast(x, DataType::kU8);
  const bool keepDims = node.flag("keepdims", true);
  Value* axes = node.optionalInput(1);
  Value* reduced = axes && !isKnown(node, axes)
                       ? reduceAtRunTime(node, kind, x, axes, keepDims)
                       : reduce(node, kind, x, reducedAxes(node, x->rank()), keepDims);
  node.setOutput(node.cast(reduced, type));
}

namespace {

void importArg(NodeImport& node, bool largest) {
  Value* x = node.input(0);
  ArgReduceAttrs attrs;
  attrs.largest = largest;
  attrs.axis = node.axisAttribute("axis", 0, x->rank());
  attrs.keepDims = node.flag("keepdims", true);
  attrs.selectLast = node.flag("select_last_index");
  node.setOutput(node.add(&ops::ArgReduce, {x}, attrs));
}

void importCumulative(NodeImport& node, bool product) {
  Value* x = node.input(0);
  CumSumAttrs attrs;
  attrs.exclusive = node.flag("exclusive");
  attrs.reverse = node.flag("reverse");
  attrs.product = product;
  const auto axis = node.knownIntegers(node.input(1));
  if (!axis) return node.setOutput(cumulateAtRunTime(node, x, node.input(1), attrs));
  attrs.axis = node.axis(axis->at(0), x->rank());
  node.setOutput(node.add(&ops::CumSum, {x}, attrs));
}

}  // namespace

void importArgMax(NodeImport& node) { importArg(node, true); }
void importArgMin(NodeImport& node) { importArg(node, false); }
void importCumSum(NodeImport& node) { importCumulative(node, false); }
void importCumProd(NodeImport& node) { importCumulative(node, true); }

}  // namespace camshaft::onnx::importer
