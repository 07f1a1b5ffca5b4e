#include "backends/cuda/families.h"
#include "backends/cuda/codegen/element_kernel.h"
#include "ops/index.h"
#include "support/text.h"

namespace camshaft::cuda::index {
namespace {

Verdict supports(const Node& node) {
  if (!isInteger(node.input(0)->dataType())) return Verdict::no("only integer indices");
  return movesElements(node);
}

// The output is [outer, depth, inner]; neighbours lie along depth where inner is 1.
Prepared prepare(const Node& node, const PrepareOptions& options) {
  const auto& attrs = node.as<OneHotAttrs>();
  const Shape& indices = node.input(0)->shape();
  const Dim outer = numElements({indices.begin(), indices.begin() + attrs.axis});
  const Dim inner = numElements({indices.begin() + attrs.axis, indices.end()});
  const bool isAlongDepth = inner.isConstant(1);
  const int width = vectorWidth(node.output()->dataType(), {isAlongDepth ? attrs.depth : inner});
  ElementKernel kernel("one_hot", node, options, {outer, attrs.depth, inner}, width);
  kernel.text.body += str("  const Index index = c0 * ", kernel.size(inner),
                          " + c2;\n  const auto off = x1[0], on = x1[1];\n");
  const std::string place = isAlongDepth ? "0" : "lane", depth = isAlongDepth ? "c1 + lane" : "c1";
  return kernel.finish(str("    const long long asked = static_cast<long long>(x0[index + ", place,
                           "]);\n    const long long hot = asked < 0 ? asked + ",
                           kernel.size(attrs.depth), " : asked;\n"),
                       str("hot == ", depth, " ? on : off"), LaneValue::kStored);
}

constexpr Kernel kKernels[] = {{"cuda/one_hot", supports, prepare}};

}  // namespace

KernelList oneHotKernels() { return kKernels; }

}  // namespace camshaft::cuda::index
