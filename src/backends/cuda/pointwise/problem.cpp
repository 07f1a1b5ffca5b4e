#include <algorithm>

#include "backends/cuda/pointwise/pointwise.h"
#include "ops/move.h"
#include "ops/pointwise.h"
#include "support/error.h"

namespace camshaft::cuda {

std::vector<Dim> contiguousStrides(const Shape& shape) {
  std::vector<Dim> strides(shape.size());
  Dim stride = 1;
  for (size_t i = shape.size(); i-- > 0; stride *= shape[i]) strides[i] = stride;
  return strides;
}

std::vector<Dim> broadcastStrides(const Shape& from, const Shape& to) {
  const std::vector<Dim> own = contiguousStrides(from);
  std::vector<Dim> strides(to.size(), Dim(0));
  const size_t skipped = to.size() - from.size();
  for (size_t i = 0; i < from.size(); ++i) {
    const Dim& size = to[skipped + i];
    const bool isWhole = from[i] == size || size.isConstant(1);
    strides[skipped + i] = isWhole ? own[i] : own[i] * oneWhereSeveral(from[i]);
  }
  return strides;
}

Dim oneWhereSeveral(const Dim& size) { return min(1, max(size - 1, 0)); }

namespace {

// The one operand of an operator that moves elements, before its epilogue.
StridedOperand movedOperand(const Node& node) {
  const Shape& from = node.input(0)->shape();
  const Shape& to = node.output()->shape();
  const std::vector<Dim> own = contiguousStrides(from);
  if (node.op == &ops::Transpose) {
    StridedOperand operand{.strides = {}};
    for (int64_t axis : node.as<TransposeAttrs>().order) operand.strides.push_back(own[axis]);
    return operand;
  }
  if (node.op == &ops::Slice) {
    const auto& slice = node.as<SliceAttrs>();
    StridedOperand operand{.strides = own};
    for (size_t i = 0; i < slice.axes.size(); ++i) {
      operand.offset += slice.starts[i] * own[slice.axes[i]];
      operand.strides[slice.axes[i]] = own[slice.axes[i]] * Dim(slice.steps[i]);
    }
    return operand;
  }
  if (node.op == &ops::Expand) return {.strides = broadcastStrides(from, to)};
  return {.strides = contiguousStrides(to)};  // Identity, Reshape: the same elements in order
}

}  // namespace

bool isStrided(const Node& node) {
  static const Op kOps[] = {&ops::Pointwise, &ops::Transpose, &ops::Slice,
                            &ops::Expand,    &ops::Identity,  &ops::Reshape};
  return std::find(std::begin(kOps), std::end(kOps), node.op) != std::end(kOps);
}

StridedProblem stridedProblemOf(const Node& node) {
  StridedProblem problem{.shape = node.output()->shape()};
  Expr own;
  if (node.op == &ops::Pointwise)
    own = node.as<PointwiseAttrs>().expr;
  else
    own.input(0, node.input(0)->dataType());
  problem.expr = own;
  if (node.epilogue) {
    std::vector<int> inner(own.inputCount()), outer(node.epilogue->expr.inputCount());
    for (size_t i = 0; i < inner.size(); ++i) inner[i] = static_cast<int>(i);
    for (size_t i = 1; i < outer.size(); ++i)
      outer[i] = node.epilogue->firstInput + static_cast<int>(i) - 1;
    problem.expr = node.epilogue->expr.composed(0, own, inner, outer);
  }
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    StridedOperand operand;
    if (i == 0 && node.op != &ops::Pointwise)
      operand = movedOperand(node);
    else
      operand.strides = broadcastStrides(node.inputs[i]->shape(), problem.shape);
    operand.nodeInput = static_cast<int>(i);
    problem.operands.push_back(std::move(operand));
  }
  return problem;
}

void collapse(StridedProblem& problem) {
  const auto erase = [&](size_t axis) {
    problem.shape.erase(problem.shape.begin() + axis);
    for (StridedOperand& operand : problem.operands)
      operand.strides.erase(operand.strides.begin() + axis);
  };
  for (size_t i = problem.shape.size(); i-- > 0;)
    if (problem.shape[i].isConstant(1)) erase(i);
  for (size_t i = problem.shape.size(); i-- > 1;) {
    const bool isOneWalk = std::all_of(
        problem.operands.begin(), problem.operands.end(), [&](const StridedOperand& operand) {
          return operand.strides[i - 1] == operand.strides[i] * problem.shape[i];
        });
    if (!isOneWalk) continue;
    problem.shape[i] = problem.shape[i - 1] * problem.shape[i];
    // Keeps the inner stride of each operand.
    erase(i - 1);
  }
}

}  // namespace camshaft::cuda
