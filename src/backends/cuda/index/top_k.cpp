// TopK: one block per row orders its elements. Short rows are sorted in shared memory; of long ones
// the k are found first, then sorted; long rows with a large k are sorted in the workspace.
#include <algorithm>

#include "backends/cuda/families.h"
#include "backends/cuda/codegen/element_kernel.h"
#include "ops/index.h"
#include "support/text.h"

namespace camshaft::cuda::index {
namespace {

Verdict supports(const Node& node, const BuildContext&) {
  const DataType type = node.input(0)->dataType();
  if (isFloat(type) && bitsOf(type) == 8) return Verdict::no("does not compare 8-bit floats");
  if (node.epilogue) return Verdict::no("takes no epilogue");
  return Verdict{whyNotPrinted(node)};
}

struct TopKProblem {
  Dim outer, size, inner, k;  // a row is along the middle dimension of [outer, size, inner]
  int rankBytes;
  // Ranks that fit shared memory without asking for more than every block may have.
  int64_t mostShared() const { return 32768 / rankBytes; }
  Dim rows() const { return outer * inner; }
};

TopKProblem topKProblemOf(const Node& node) {
  const auto& attrs = node.as<TopKAttrs>();
  const Shape& shape = node.input(0)->shape();
  const auto axis = shape.begin() + attrs.axis;
  const bool isWide = bitsOf(node.input(0)->dataType()) == 64;
  return {numElements({shape.begin(), axis}), *axis, numElements({axis + 1, shape.end()}), attrs.k,
          isWide ? 16 : 8};
}

int threadsFor(int64_t elements) {
  return elements <= 64 ? 32 : elements <= 256 ? 128 : elements <= 1024 ? 256 : 1024;
}

// Prints `row`, what the block orders.
void printRow(KernelText& kernel, const Node& node, const TopKProblem& problem) {
  kernel.include("device/ranks.cuh");
  kernel.include("index/top_k.cuh");
  kernel.input("x0", 0);
  kernel.output("values", 0);
  kernel.output("indices", 1);
  kernel.body += str("  const auto row = topKRow<", node.as<TopKAttrs>().largest,
                     ">(x0, values, indices, ", kernel.size(problem.size), ", ",
                     kernel.size(problem.k), ", ", kernel.size(problem.inner), ");\n");
}

std::string nameOf(std::string_view how, const Node& node) {
  return str("top_k_", how, "_", node.input(0)->dataType());
}

Prepared prepareSort(const Node& node, const BuildContext& context, int64_t) {
  const TopKProblem problem = topKProblemOf(node);
  const int64_t longest = context.max(problem.size);
  if (longest > problem.mostShared())
    return Prepared::no("rows may be too long to sort in shared memory");
  KernelText kernel(nameOf("sort", node), node, context);
  printRow(kernel, node, problem);
  kernel.body += str("  row.sort<", std::max<int64_t>(longest, 1), ">();\n");
  return kernel.prepared({.grid = {problem.rows(), 1, 1}, .block = threadsFor(longest)});
}

Prepared prepareSelect(const Node& node, const BuildContext& context, int64_t) {
  const TopKProblem problem = topKProblemOf(node);
  const int64_t most = context.max(problem.k);
  if (most > problem.mostShared())
    return Prepared::no("k may be too large to sort in shared memory");
  if (context.max(problem.size) <= 256) return Prepared::no("rows are short enough to sort");
  KernelText kernel(nameOf("select", node), node, context);
  printRow(kernel, node, problem);
  kernel.body += str("  row.select<", std::max<int64_t>(most, 1), ">();\n");
  return kernel.prepared(
      {.grid = {problem.rows(), 1, 1}, .block = threadsFor(context.opt(problem.size))});
}

Prepared prepareSortInWorkspace(const Node& node, const BuildContext& context, int64_t) {
  const TopKProblem problem = topKProblemOf(node);
  if (std::min(context.max(problem.size), context.max(problem.k)) <= problem.mostShared())
    return Prepared::no("shared memory is large enough");
  KernelText kernel(nameOf("workspace", node), node, context);
  printRow(kernel, node, problem);
  kernel.workspace("workspace", problem.rows() * problem.size * problem.rankBytes);
  kernel.body += "  row.sortIn(workspace);\n";
  return kernel.prepared({.grid = {problem.rows(), 1, 1}, .block = 1024});
}

constexpr Kernel kKernels[] = {{"cuda/top_k_sort", supports, prepareSort},
                               {"cuda/top_k_select", supports, prepareSelect},
                               {"cuda/top_k_workspace", supports, prepareSortInWorkspace}};

}  // namespace

KernelList topKKernels() { return kKernels; }

}  // namespace camshaft::cuda::index
