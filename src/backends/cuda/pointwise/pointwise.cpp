#include "backends/cuda/pointwise/pointwise.h"

#include <algorithm>

#include "backends/cuda/families.h"
#include "ops/ops.h"
#include "support/text.h"

namespace camshaft::cuda::pointwise {
namespace {

Verdict supports(const Node& node) {
  if (!isStrided(node)) return Verdict::no("only where elements move by strides");
  if (const std::string reason = whyNotPrinted(stridedProblemOf(node).expr); !reason.empty())
    return Verdict::no(reason);
  return Verdict::yes();
}

// How many neighbouring outputs one thread computes: as many as make 16-byte accesses of the
// narrowest operand, where rows divide into them.
int vectorWidth(const StridedProblem& problem, const Node& node) {
  int bits = bitsOf(node.output()->dataType());
  for (const StridedOperand& operand : problem.operands)
    bits = std::min(bits, bitsOf(node.inputs[operand.nodeInput]->dataType()));
  int width = std::min(8, 128 / bits);
  if (problem.shape.empty()) return 1;
  while (width > 1 && !isMultiple(problem.shape.back(), width)) width /= 2;
  return width;
}

bool readsVectors(const StridedProblem& problem, const StridedOperand& operand, int width) {
  if (problem.shape.empty() || !operand.strides.back().isConstant(1)) return false;
  return isMultiple(operand.offset, width) &&
         std::all_of(operand.strides.begin(), operand.strides.end() - 1,
                     [&](const Dim& stride) { return isMultiple(stride, width); });
}

// Coordinates c0, c1, ... of the thread's first output element, from its linear index.
void printCoordinates(KernelText& kernel, const Shape& shape) {
  kernel.body += "  Index rest = first;\n";
  for (size_t i = shape.size(); i-- > 0;) {
    if (i == 0) {
      kernel.body += "  const Index c0 = rest;\n";
    } else {
      const std::string size = kernel.size(shape[i]);
      kernel.body += str("  const Index c", i, " = rest % ", size, ";\n  rest /= ", size, ";\n");
    }
  }
}

std::string position(KernelText& kernel, const StridedOperand& operand) {
  std::string text = operand.offset.isConstant(0) ? "" : kernel.size(operand.offset);
  for (size_t i = 0; i < operand.strides.size(); ++i) {
    if (operand.strides[i].isConstant(0)) continue;
    text += str(text.empty() ? "" : " + ", "c", i);
    if (!operand.strides[i].isConstant(1)) text += str(" * ", kernel.size(operand.strides[i]));
  }
  return text.empty() ? "0" : text;
}

Prepared prepare(const Node& node, const PrepareOptions& options) {
  StridedProblem problem = stridedProblemOf(node);
  collapse(problem);
  const int width = vectorWidth(problem, node);
  const Dim threads = floorDiv(numElements(problem.shape), width);

  KernelText kernel(str(node.op == &ops::Pointwise ? "pointwise_" : "move_",
                        node.output()->dataType(), "_x", width),
                    node, options);
  for (size_t i = 0; i < problem.operands.size(); ++i)
    kernel.input(str("x", i), static_cast<int>(i));
  kernel.output("y");
  kernel.body +=
      str("  const Index thread = Index(blockIdx.x) * 256 + threadIdx.x;\n  if (thread >= ",
          kernel.size(threads), ") return;\n  const Index first = thread * ", width, ";\n");
  printCoordinates(kernel, problem.shape);

  std::vector<std::string> values;
  for (size_t i = 0; i < problem.operands.size(); ++i) {
    const StridedOperand& operand = problem.operands[i];
    const std::string at = position(kernel, operand);
    const bool isFixed = problem.shape.empty() || operand.strides.back().isConstant(0);
    if (isFixed) {
      kernel.body += str("  const auto fixed", i, " = toCompute(x", i, "[", at, "]);\n");
      values.push_back(str("fixed", i));
    } else if (readsVectors(problem, operand, width)) {
      kernel.body +=
          str("  const auto vector", i, " = loadVector<", width, ">(x", i, " + ", at, ");\n");
      values.push_back(str("toCompute(vector", i, ".v[lane])"));
    } else {
      kernel.body += str("  const auto from", i, " = x", i, " + (", at, ");\n");
      values.push_back(
          str("toCompute(from", i, "[lane * ", kernel.size(operand.strides.back()), "])"));
    }
  }
  const std::string_view type = storageType(node.output()->dataType());
  kernel.body +=
      str("  Vector<", type, ", ", width,
          "> results;\n#pragma unroll\n  for (int lane = 0; lane < ", width, "; ++lane) {\n");
  const std::string result = printExpr(problem.expr, values, "t", kernel.body);
  kernel.body += str("    results.v[lane] = toStorage<", type, ">(", result,
                     ");\n  }\n  storeVector<", width, ">(y + first, results);\n");
  return kernel.prepared({.grid = {ceilDiv(threads, 256), 1, 1}, .block = 256});
}

// Each thread reads what it needs before it writes, and nobody else's elements.
bool inPlace(const Node& node, int input) {
  return node.op == &ops::Pointwise && node.inputs[input]->type == node.output()->type;
}

constexpr Kernel kKernels[] = {{"cuda/pointwise", supports, prepare, nullptr, inPlace}};

}  // namespace

KernelList kernels() { return kKernels; }

}  // namespace camshaft::cuda::pointwise
