#include "backends/cuda/codegen/element_kernel.h"

#include <algorithm>

#include "backends/cuda/pointwise/pointwise.h"
#include "support/text.h"

namespace camshaft::cuda {
namespace {

constexpr int kThreads = 256;

// The epilogue's extra inputs as operands over the output's shape, dimensions joined.
StridedProblem epilogueOperands(const Node& node) {
  StridedProblem problem{.shape = node.output()->shape()};
  for (size_t i = node.ownInputs(); i < node.inputs.size(); ++i)
    problem.operands.push_back(
        {.nodeInput = static_cast<int>(i),
         .strides = broadcastStrides(node.inputs[i]->shape(), problem.shape)});
  collapse(problem);
  return problem;
}

std::string positionOf(KernelText& kernel, const StridedOperand& operand) {
  std::string text;
  for (size_t i = 0; i < operand.strides.size(); ++i) {
    if (operand.strides[i].isConstant(0)) continue;
    text += str(text.empty() ? "" : " + ", "e", i, " * ", kernel.size(operand.strides[i]));
  }
  return text.empty() ? "0" : text;
}

}  // namespace

Verdict movesElements(const Node& node) {
  const auto isUnknown = [](const Value* value) {
    return value && !isPrintable(value->dataType());
  };
  if (std::any_of(node.inputs.begin(), node.inputs.end(), isUnknown) ||
      std::any_of(node.outputs.begin(), node.outputs.end(), isUnknown))
    return Verdict::no("it moves elements that device code lacks");
  if (!node.epilogue) return Verdict::yes();
  const std::string reason = whyNotPrinted(node.epilogue->expr);
  return reason.empty() ? Verdict::yes() : Verdict::no("its epilogue " + reason);
}

int vectorWidth(DataType type, std::initializer_list<Dim> rowSizes) {
  int width = 128 / bitsOf(type);
  for (const Dim& size : rowSizes)
    while (width > 1 && !isMultiple(size, width)) width /= 2;
  return width;
}

void printCoordinates(KernelText& kernel, const Shape& shape, std::string_view linear,
                      std::string_view prefix) {
  if (shape.empty()) return;
  kernel.body += str("  Index ", prefix, "Rest = ", linear, ";\n");
  for (size_t i = shape.size(); i-- > 1;) {
    const std::string size = kernel.size(shape[i]);
    kernel.body += str("  const Index ", prefix, i, " = ", prefix, "Rest % ", size, ";\n  ", prefix,
                       "Rest /= ", size, ";\n");
  }
  kernel.body += str("  const Index ", prefix, "0 = ", prefix, "Rest;\n");
}

ElementStore::ElementStore(KernelText& kernel, const Node& node, int width)
    : kernel_(kernel), node_(node), width_(width) {
  for (size_t i = 0; i < node.inputs.size(); ++i) kernel.input(str("x", i), static_cast<int>(i));
  kernel.output("y");
}

void ElementStore::print(const std::string& laneStatements, const std::string& value,
                         LaneValue kind) {
  const std::string_view type = storageType(node_.output()->dataType());
  const StridedProblem operands = epilogueOperands(node_);
  const bool isPerLane =
      width_ > 1 && !operands.shape.empty() && !isMultiple(operands.shape.back(), width_);
  std::string& body = kernel_.body;
  const bool hasOperands = !operands.operands.empty();
  body += "  {\n";
  if (hasOperands && !isPerLane) printCoordinates(kernel_, operands.shape, "first", "e");
  body += str("  Vector<", type, ", ", width_,
              "> results;\n#pragma unroll\n  for (int lane = 0; lane < ", width_, "; ++lane) {\n",
              laneStatements);
  if (hasOperands && isPerLane) printCoordinates(kernel_, operands.shape, "first + lane", "e");

  std::string result = value;
  if (kind == LaneValue::kComputed || node_.epilogue) {
    std::vector<std::string> values = {kind == LaneValue::kStored ? str("toCompute(", value, ")")
                                                                  : value};
    for (const StridedOperand& operand : operands.operands) {
      const bool walks = !isPerLane && !operand.strides.empty();
      values.push_back(str("toCompute(x", operand.nodeInput, "[", positionOf(kernel_, operand),
                           walks ? str(" + lane * ", kernel_.size(operand.strides.back())) : "",
                           "])"));
    }
    result = node_.epilogue ? printExpr(node_.epilogue->expr, values, "t", body) : values[0];
    result = str("toStorage<", type, ">(", result, ")");
  }
  body += str("    results.v[lane] = ", result, ";\n  }\n  storeVector<", width_,
              ">(y + first, results);\n  }\n");
}

ElementKernel::ElementKernel(std::string_view what, const Node& node, const PrepareOptions& options,
                             Shape view, int width)
    : text(str(what, "_", node.output()->dataType(), "_x", width), node, options),
      store_(text, node, width),
      threads_(floorDiv(numElements(view), width)) {
  text.body += str("  const Index thread = Index(blockIdx.x) * ", kThreads,
                   " + threadIdx.x;\n  if (thread >= ", text.size(threads_),
                   ") return;\n  const Index first = thread * ", width, ";\n");
  printCoordinates(text, view, "first", "c");
}

Prepared ElementKernel::finish(const std::string& laneStatements, const std::string& value,
                               LaneValue kind) {
  store_.print(laneStatements, value, kind);
  return text.prepared({.grid = {ceilDiv(threads_, kThreads), 1, 1}, .block = kThreads});
}

}  // namespace camshaft::cuda
