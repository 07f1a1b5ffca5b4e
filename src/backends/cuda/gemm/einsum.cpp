// Einsum, for equations that are no matrix product: one thread per output element.
#include <algorithm>

#include "backends/cuda/families.h"
#include "backends/cuda/codegen/element_kernel.h"
#include "backends/cuda/pointwise/pointwise.h"
#include "ops/gemm.h"
#include "support/text.h"

namespace camshaft::cuda::gemm {
namespace {

Verdict supports(const Node& node) {
  const DataType type = node.input(0)->dataType();
  if (type == DataType::kBool || (isFloat(type) && bitsOf(type) == 8))
    return Verdict::no(str("does not compute with ", type));
  return movesElements(node);
}

// The labels of the result, then those that are summed over, and the size of each.
struct Contraction {
  std::vector<std::string> operands;
  std::string labels;
  size_t resultRank = 0;
  Shape sizes;
};

Contraction contractionOf(const Node& node) {
  std::string text = node.as<EinsumAttrs>().equation;
  std::erase(text, ' ');
  const size_t arrow = text.find("->");
  Contraction result{{""}, text.substr(arrow + 2)};
  result.resultRank = result.labels.size();
  result.sizes = node.output()->shape();
  for (char c : text.substr(0, arrow)) {
    if (c == ',')
      result.operands.emplace_back();
    else
      result.operands.back() += c;
  }
  for (size_t i = 0; i < result.operands.size(); ++i) {
    for (size_t axis = 0; axis < result.operands[i].size(); ++axis) {
      const Dim& size = node.input(static_cast<int>(i))->shape()[axis];
      const size_t at = result.labels.find(result.operands[i][axis]);
      if (at == std::string::npos) {
        result.labels += result.operands[i][axis];
        result.sizes.push_back(size);
      } else if (at >= result.resultRank) {
        result.sizes[at] = broadcast(result.sizes[at], size);
      }
    }
  }
  return result;
}

// Where an operand is read; a label used twice walks the diagonal, a dimension of size 1
// broadcasts.
std::string positionOf(KernelText& kernel, const Contraction& contraction, const std::string& own,
                       const Shape& shape) {
  const std::vector<Dim> strides = contiguousStrides(shape);
  std::string text;
  for (size_t i = 0; i < own.size(); ++i) {
    if (shape[i].isConstant(1)) continue;
    const size_t at = contraction.labels.find(own[i]);
    const std::string stride = kernel.size(strides[i]);
    const bool mayBroadcast = !shape[i].isConstant() && shape[i] != contraction.sizes[at];
    text +=
        str(text.empty() ? "" : " + ", "c", at, " * ",
            mayBroadcast ? str("(", kernel.size(shape[i]), " == 1 ? 0 : ", stride, ")") : stride);
  }
  return text.empty() ? "0" : text;
}

Prepared prepare(const Node& node, const PrepareOptions& options) {
  const Contraction contraction = contractionOf(node);
  const DataType type = node.input(0)->dataType();
  const std::string_view sum = !isFloat(type)           ? "unsigned long long"
                               : type == DataType::kF64 ? "double"
                                                        : "float";
  ElementKernel kernel("einsum", node, options, node.output()->shape(), 1);
  std::string& body = kernel.text.body;
  body += str("  ", sum, " sum = 0;\n");
  std::string ends;
  for (size_t i = contraction.resultRank; i < contraction.labels.size(); ++i) {
    body += str("  for (Index c", i, " = 0; c", i, " < ", kernel.size(contraction.sizes[i]),
                "; ++c", i, ") {\n");
    ends += "  }\n";
  }
  std::string product;
  for (size_t i = 0; i < contraction.operands.size(); ++i)
    product += str(i == 0 ? "" : " * ", "static_cast<", sum, ">(toCompute(x", i, "[",
                   positionOf(kernel.text, contraction, contraction.operands[i],
                              node.input(static_cast<int>(i))->shape()),
                   "]))");
  body += str("  sum += ", product, ";\n", ends);
  return kernel.finish("", str("static_cast<", computeType(type), ">(sum)"), LaneValue::kComputed);
}

constexpr Kernel kKernels[] = {{"cuda/einsum", supports, prepare}};

}  // namespace

KernelList einsumKernels() { return kKernels; }

}  // namespace camshaft::cuda::gemm
