#include "ops/random.h"

#include "backends/cuda/families.h"
#include "backends/cuda/codegen/element_kernel.h"
#include "support/text.h"

namespace camshaft::cuda::random {
namespace {

Verdict supports(const Node& node, const BuildContext&) {
  if (bitsOf(node.as<RandomAttrs>().type) < 16)
    return Verdict::no("only floats of 16 bits and more");
  return Verdict{whyNotPrinted(node)};
}

Prepared prepare(const Node& node, const BuildContext& context, int64_t) {
  const auto& attrs = node.as<RandomAttrs>();
  const bool isNormal = attrs.kind == RandomKind::kNormal;
  ElementKernel kernel(isNormal ? "random_normal" : "random_uniform", node, context, 1,
                       Results::kComputed);
  kernel.text.include("device/philox.cuh");
  const std::string draw =
      isNormal ? std::string("normalAt") : str("uniformAt<", uniformDigits(attrs.type), ">");
  kernel.text.body += str("  const double drawn = ", literal(attrs.low, DataType::kF64), " + ",
                          literal(isNormal ? attrs.high : attrs.high - attrs.low, DataType::kF64),
                          " * ", draw, "(static_cast<unsigned long long>(first), ",
                          static_cast<uint64_t>(attrs.seed), "ull);\n");
  kernel.printResults(str("static_cast<", computeType(attrs.type), ">(drawn)"));
  return kernel.prepared();
}

constexpr Kernel kKernels[] = {{"cuda/random", supports, prepare}};

}  // namespace

KernelList kernels() { return kKernels; }

}  // namespace camshaft::cuda::random
