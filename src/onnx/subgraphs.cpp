#include "onnx/subgraphs.h"

#include "onnx/node_order.h"

namespace camshaft::onnx {

std::vector<Subgraph> subgraphsOf(const LoadedModel& model,
                                  const std::vector<ImportProblem>& problems,
                                  const std::vector<int>& untried) {
  enum class Support { kNone, kUnknown, kWhole };
  const std::vector<Node>& nodes = model.model.graph.nodes;
  std::vector<Support> support(nodes.size(), Support::kWhole);
  for (const int node : untried) support[node] = Support::kUnknown;
  for (const ImportProblem& problem : problems)
    if (problem.nodeIndex >= 0)
      support[problem.nodeIndex] = Support::kNone;
    else
      return {};

  std::vector<Subgraph> runs;
  Support last = Support::kNone;
  for (const int node : importer::orderNodes(nodes, [](std::string_view) { return false; }).order) {
    if (support[node] != Support::kNone) {
      if (support[node] != last) runs.push_back({{}, support[node] == Support::kWhole});
      runs.back().nodes.push_back(node);
    }
    last = support[node];
  }
  return runs;
}

}  // namespace camshaft::onnx
