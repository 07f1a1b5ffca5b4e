// Reshape and its special cases: Flatten, Squeeze, Unsqueeze.
#include <algorithm>

#include "onnx/formula.h"
#include "onnx/ops/run_time_axes.h"
#include "onnx/size.h"
#include "ops/shape.h"

namespace camshaft::onnx::importer {

namespace {

// What -1 stands for: elements over the product of the other sizes. Sizes found on both sides
// cancel first, so that [n, s, 768] as [n, s, 12, -1] gives 64 and no division by symbols.
Dim remainingSize(const Shape& from, const Shape& others) {
  Shape dividend = from;
  Dim divisor = 1;
  for (const Dim& other : others) {
    const auto same = std::find(dividend.begin(), dividend.end(), other);
    if (same != dividend.end())
      dividend.erase(same);
    else
      divisor *= other;
  }
  return floorDiv(numElements(dividend), divisor);
}

Shape resolve(const NodeImport& node, const Shape& from, const std::vector<Dim>& wanted,
              bool allowZero) {
  Shape shape, others;
  int unknown = -1;
  for (size_t i = 0; i < wanted.size(); ++i) {
    Dim dim = wanted[i];
    if (dim.isConstant(0) && !allowZero) {
      if (i >= from.size())
        node.invalid("its shape copies dimension ", i, " of a tensor of rank ", from.size());
      dim = from[i];
    }
    if (dim.isConstant(-1)) {
      if (unknown >= 0) node.invalid("its shape has more than one -1");
      unknown = static_cast<int>(i);
    } else if (dim.isConstant() && dim.value() < 0) {
      node.invalid("its shape has a dimension of ", dim);
    } else {
      others.push_back(dim);
    }
    shape.push_back(dim);
  }
  if (unknown < 0) return shape;
  if (numElements(others).isConstant(0)) node.invalid("its shape has both a 0 and a -1");
  shape[unknown] = remainingSize(from, others);
  return shape;
}

}  // namespace

void importReshape(NodeImport& node) {
  Value* x = node.input(0);
  const bool allowZero = node.flag("allowzero");
  if (node.opset() < 5)
    return node.setOutput(
        node.reshape(x, resolve(node, x->shape(), makeShape(node.integers("shape")), false)));
  Value* wanted = withLength(node, node.input(1), node.declaredRank(0));
  if (wanted->contents || node.knownIntegers(wanted))
    return node.setOutput(node.reshape(x, resolve(node, x->shape(), node.dims(wanted), allowZero)));
  if (wanted->rank() != 1 || !wanted->shape()[0].isConstant())
    node.unsupported("its shape ('", wanted->name,
                     "') has a length known at run time only, which is the rank of its output: "
                     "give it a known length when exporting, or declare the output's shape");
  ReshapeDimsAttrs attrs;
  attrs.input = x->shape();
  attrs.allowZero = allowZero;
  Value* dims = node.add(&ops::ReshapeDims, {wanted}, std::move(attrs));
  node.setOutput(node.reshape(x, contentsOf(node.graph(), dims, node.name())));
}

void importFlatten(NodeImport& node) {
  Value* x = node.input(0);
  int64_t axis = node.integer("axis", 1);
  if (axis < -x->rank() || axis > x->rank())
    node.invalid("axis ", axis, " is outside a tensor of rank ", x->rank());
  if (axis < 0) axis += x->rank();
  const auto middle = x->shape().begin() + axis;
  node.setOutput(node.reshape(
      x, {numElements({x->shape().begin(), middle}), numElements({middle, x->shape().end()})}));
}

namespace {

// Axes are an attribute before opset 13 and an input since; absent in either form: nothing.
std::optional<std::vector<int64_t>> axesOf(const NodeImport& node) {
  if (node.opset() < 13) {
    if (node.has("axes")) return node.integers("axes");
  } else if (node.hasInput(1)) {
    return node.knownIntegers(node.input(1));
  }
  return std::nullopt;
}

// The axes, where they are known at run time only.
Value* runTimeAxes(const NodeImport& node) {
  const bool isInput = node.opset() >= 13 && node.hasInput(1);
  return isInput && !node.knownIntegers(node.input(1)) ? node.input(1) : nullptr;
}

// Without axes every size of 1 goes. The rank is the graph's, and known before the sizes are: one
// that may be 1 or not stays, and a run where it is 1 fails.
std::vector<int64_t> sizesOfOne(const NodeImport& node, const Value* x) {
  std::vector<int64_t> axes;
  for (int64_t i = 0; i < x->rank(); ++i) {
    const Dim& size = x->shape()[i];
    const DimRange range = rangeOf(size, node.graph().symbolRange());
    const bool isOne = range.min == 1 && range.max == 1;
    if (isOne) axes.push_back(i);
    if (isOne || range.min > 1 || range.max < 1) continue;
    Formula formula;
    const Term result = cast(formula.input(0, DataType::kI64) == 1, DataType::kI64);
    addAssertion(
        node.graph(), node.pointwise({sizeTensor(node, size)}, formula.take(result)), 0,
        str(node.name(), ", a Squeeze without axes, which removes dimension ", i, " of '", x->name,
            "' where its size ", size, " is 1: give it axes, or fix that size when exporting"));
  }
  return axes;
}

}  // namespace

void importSqueeze(NodeImport& node) {
  Value* x = node.input(0);
  if (Value* axes = runTimeAxes(node)) return node.setOutput(squeezeAtRunTime(node, x, axes));
  std::vector<int64_t> axes;
  if (const auto given = axesOf(node)) {
    axes = node.axes(*given, x->rank());
  } else {
    axes = sizesOfOne(node, x);
  }
  Shape shape;
  for (int64_t i = 0; i < x->rank(); ++i) {
    const bool removed = std::binary_search(axes.begin(), axes.end(), i);
    if (!removed)
      shape.push_back(x->shape()[i]);
    else if (x->shape()[i].isConstant() && !x->shape()[i].isConstant(1))
      node.invalid("it squeezes dimension ", i, ", which has size ", x->shape()[i]);
  }
  node.setOutput(node.reshape(x, std::move(shape)));
}

void importUnsqueeze(NodeImport& node) {
  Value* x = node.input(0);
  if (Value* axes = runTimeAxes(node)) return node.setOutput(unsqueezeAtRunTime(node, x, axes));
  const auto given = axesOf(node);
  if (!given) node.invalid("it lacks its axes");
  Shape shape = x->shape();
  for (const int64_t axis : node.axes(*given, x->rank() + static_cast<int64_t>(given->size())))
    shape.insert(shape.begin() + axis, Dim(1));
  node.setOutput(node.reshape(x, std::move(shape)));
}

}  // namespace camshaft::onnx::importer
