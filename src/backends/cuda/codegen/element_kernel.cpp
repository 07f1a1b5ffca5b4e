#include "backends/cuda/codegen/element_kernel.h"

#include "support/text.h"

namespace camshaft::cuda {
ElementKernel::ElementKernel(std::string_view what, const Node& node, const BuildContext& context,
                             int width, Results kind, int threads)
    : text(str(what, "_", node.output()->dataType(), "_x", width), node, context),
      width_(width),
      threadsPerBlock_(threads),
      resultType_(kind == Results::kStored ? storageType(node.resultBeforeEpilogue().type)
                                           : computeType(node.resultBeforeEpilogue().type)),
      threads_(floorDiv(numElements(node.output()->shape()), width)) {
  text.body += str("  const Index thread = Index(blockIdx.x) * ", threads,
                   " + threadIdx.x;\n  if (thread >= ", text.size(threads_),
                   ") return;\n  const Index first = thread * ", width, ";\n");
  printElementStore(text, node, width, kind);
}

void ElementKernel::printCoordinates(const Shape& view) {
  text.include("device/coordinates.cuh");
  text.body += str("  const auto at = coordinatesOf(first, ", sizesText(text, view), ");\n");
}

void ElementKernel::printResults(const std::string& value, const std::string& laneStatements) {
  text.body +=
      str("  ", resultType_, " results[", width_,
          "];\n#pragma unroll\n  for (int lane = 0; lane < ", width_, "; ++lane) {\n",
          laneStatements, "    results[lane] = ", value, ";\n  }\n  store(first, results);\n");
}

Prepared ElementKernel::prepared() {
  return text.prepared(
      {.grid = {ceilDiv(threads_, threadsPerBlock_), 1, 1}, .block = threadsPerBlock_});
}

}  // namespace camshaft::cuda
