#include "backends/cuda/families.h"
#include "backends/cuda/codegen/row_plan.h"
#include "ops/reduce.h"
#include "support/text.h"

namespace camshaft::cuda::reduce {
namespace {

// A block scans a row whose elements are neighbours; of others a thread has one each.
Prepared prepare(const Node& node, const BuildContext& context, int64_t) {
  const auto& attrs = node.as<CumSumAttrs>();
  const Shape& shape = node.input(0)->shape();
  const DataType type = node.input(0)->dataType();
  const size_t axis = attrs.axis;
  std::vector<size_t> others = axesFrom(0, axis);
  for (size_t i = axis + 1; i < shape.size(); ++i) others.push_back(i);
  Dim rows = 1;
  for (size_t i : others) rows *= shape[i];
  const bool isTogether = numElements({shape.begin() + axis + 1, shape.end()}).isConstant(1);
  const std::string_view wide = isFloat(type) ? computeType(type) : "unsigned long long";

  KernelText kernel(str("cumsum_", type), node, context);
  kernel.input("x0", 0);
  declareEpilogue(kernel, node);
  kernel.output("y");
  kernel.include("reduce/cumsum.cuh");
  kernel.body +=
      isTogether ? "  const Index row = blockIdx.x;\n"
                 : str("  const Index row = Index(blockIdx.x) * 128 + threadIdx.x;\n  if (row >= ",
                       kernel.size(rows), ") return;\n");
  Walk walk(kernel, shape, {{"row", others}, {"column", {axis}}});
  printLoad(kernel, walk, "Index column", type, contiguousStrides(shape), 1);
  printStore(kernel, node, walk, "Index column", 1);
  kernel.body += str("  ", isTogether ? "scanTogether<" : "scanAlone<",
                     attrs.product ? "Multiplying<" : "Adding<", wide, ">, ", attrs.reverse, ", ",
                     attrs.exclusive, isTogether ? ", 128, " : ", ", computeType(type), ", ", wide,
                     ">(", kernel.size(shape[axis]), ", load, store);\n");
  return kernel.prepared({.grid = {isTogether ? rows : ceilDiv(rows, 128), 1, 1}, .block = 128});
}

constexpr Kernel kKernels[] = {{"cuda/cumsum", isPrinted, prepare}};

}  // namespace

KernelList cumSumKernels() { return kKernels; }

}  // namespace camshaft::cuda::reduce
