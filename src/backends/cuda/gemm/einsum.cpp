// Einsum, for equations that are no matrix product: one thread per output element.
#include <algorithm>

#include "backends/cuda/families.h"
#include "backends/cuda/codegen/element_kernel.h"
#include "ops/gemm.h"
#include "support/text.h"

namespace camshaft::cuda::gemm {
namespace {

Verdict supports(const Node& node, const BuildContext&) {
  const DataType type = node.input(0)->dataType();
  if (type == DataType::kBool || (isFloat(type) && bitsOf(type) == 8))
    return Verdict::no(str("does not compute with ", type));
  return Verdict{whyNotPrinted(node)};
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

// Strides of an operand by label; a label used twice walks the diagonal, a dimension of size 1
// broadcasts.
std::vector<Dim> stridesOf(const Contraction& contraction, const std::string& own,
                           const Shape& shape) {
  const std::vector<Dim> contiguous = contiguousStrides(shape);
  std::vector<Dim> strides(contraction.labels.size(), Dim(0));
  for (size_t i = 0; i < own.size(); ++i) {
    if (shape[i].isConstant(1)) continue;
    const size_t at = contraction.labels.find(own[i]);
    const bool mayBroadcast = !shape[i].isConstant() && shape[i] != contraction.sizes[at];
    strides[at] += mayBroadcast ? contiguous[i] * oneWhereSeveral(shape[i]) : contiguous[i];
  }
  return strides;
}

Prepared prepare(const Node& node, const BuildContext& context, int64_t) {
  const Contraction contraction = contractionOf(node);
  const DataType type = node.input(0)->dataType();
  const std::string_view sum = !isFloat(type)           ? "unsigned long long"
                               : type == DataType::kF64 ? "double"
                                                        : "float";
  ElementKernel kernel("einsum", node, context, 1, Results::kComputed);
  kernel.text.include("device/coordinates.cuh");
  kernel.text.include("gemm/einsum.cuh");
  Shape sizes = contraction.sizes;
  if (sizes.empty()) sizes.push_back(1);  // a product of numbers
  Shape view = sizes;
  std::fill(view.begin() + contraction.resultRank, view.end(), Dim(1));
  std::string operands;
  for (size_t i = 0; i < contraction.operands.size(); ++i) {
    const Value& x = *node.input(static_cast<int>(i));
    std::vector<Dim> strides = stridesOf(contraction, contraction.operands[i], x.shape());
    strides.resize(sizes.size(), Dim(0));
    operands += str(", EinsumOperand<", storageType(x.dataType()), ", ", sizes.size(), ">{x", i,
                    ", ", sizesText(kernel.text, strides), "}");
  }
  kernel.text.body += str("  auto labels = coordinatesOf(first, ", sizesText(kernel.text, view),
                          ");\n  ", sum, " sum = 0;\n  einsum<", sum, ", ", contraction.resultRank,
                          ">(sum, labels, ", sizesText(kernel.text, sizes), operands, ");\n");
  kernel.printResults(str("static_cast<", computeType(type), ">(sum)"));
  return kernel.prepared();
}

constexpr Kernel kKernels[] = {{"cuda/einsum", supports, prepare}};

}  // namespace

KernelList einsumKernels() { return kKernels; }

}  // namespace camshaft::cuda::gemm
