// Outputs that are an expression of input elements at affine positions: pointwise groups,
// transposes, slices and broadcasts, with whatever rides on them.
#include "ops/pointwise.h"

#include <algorithm>

#include "backends/cuda/codegen/element_kernel.h"
#include "backends/cuda/families.h"
#include "ops/move.h"
#include "support/text.h"

namespace camshaft::cuda::pointwise {
namespace {

Expr exprOf(const Node& node) {
  if (node.op == &ops::Pointwise) return node.as<PointwiseAttrs>().expr;
  Expr expr;
  expr.input(0, node.input(0)->dataType());
  return expr;
}

Access sliced(const Node& node, std::vector<Dim> strides) {
  const auto& slice = node.as<SliceAttrs>();
  Dim offset = 0;
  for (size_t i = 0; i < slice.axes.size(); ++i) {
    Dim& stride = strides[slice.axes[i]];
    offset += slice.starts[i] * stride;
    stride = stride * Dim(slice.steps[i]);
  }
  return {std::move(strides), std::move(offset)};
}

// Where input i is read for an output element.
Access accessOf(const Node& node, size_t i) {
  const Shape &from = node.inputs[i]->shape(), &to = node.output()->shape();
  const bool isMoved = i == 0 && node.op != &ops::Pointwise && node.op != &ops::Expand;
  if (!isMoved) return broadcastStrides(from, to);
  if (node.op == &ops::Transpose) return transposedStrides(from, node.as<TransposeAttrs>().order);
  if (node.op == &ops::Slice) return sliced(node, contiguousStrides(from));
  return contiguousStrides(to);  // Identity, Reshape: the same elements in order
}

// How many neighbouring outputs one thread computes: as many as make 16-byte accesses of the
// narrowest operand, where what each operand walks as one divides into them.
int widthOf(const Node& node) {
  DataType narrowest = node.output()->dataType();
  for (const Value* input : node.inputs)
    if (bitsOf(input->dataType()) < bitsOf(narrowest)) narrowest = input->dataType();
  int width = kMostComputed;
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    const std::vector<Run> runs = runsOf(node.output()->shape(), accessOf(node, i).strides);
    width = vectorWidth(narrowest, {runs.empty() ? Dim(1) : runs.back().size}, width);
  }
  return width;
}

Verdict supports(const Node& node, const BuildContext&) {
  std::string reason = whyNotPrinted(node);
  if (reason.empty()) reason = whyNotPrinted(exprOf(node));
  return Verdict{reason};
}

Prepared prepare(const Node& node, const BuildContext& context, int64_t) {
  const int width = widthOf(node);
  ElementKernel kernel(node.op == &ops::Pointwise ? "pointwise" : "move", node, context, width,
                       Results::kComputed);
  Walk walk = Walk::linear(kernel.text, node.output()->shape(), "first");
  std::vector<std::string> values;
  for (int i = 0; i < node.ownInputs(); ++i)
    values.push_back(walk.load(str("x", i), accessOf(node, i), width, str("part", i)));
  std::string statements;
  const std::string result =
      printExpr(exprOf(node), values, "t", statements, kernel.text.asArguments());
  kernel.printResults(result, statements);
  return kernel.prepared();
}

// Each thread reads what it needs before it writes, and nobody else's elements.
bool inPlace(const Node& node, int input) {
  return node.op == &ops::Pointwise && node.inputs[input]->type == node.output()->type;
}

constexpr Kernel kKernels[] = {{"cuda/pointwise", supports, prepare, nullptr, inPlace}};

}  // namespace

KernelList kernels() { return kKernels; }

}  // namespace camshaft::cuda::pointwise
