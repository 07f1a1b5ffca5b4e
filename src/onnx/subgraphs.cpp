#include "onnx/subgraphs.h"

#include "onnx/node_order.h"

namespace camshaft::onnx {

std::vector<Subgraph> subgraphsOf(const LoadedModel& model,
                                  const std::vector<ImportProblem>& problems) {
  const std::vector<Node>& nodes = model.model.graph.nodes;
  const std::vector<int> order =
      importer::orderNodes(nodes, [](std::string_view) { return false; }).order;
  std::vector<bool> supported(nodes.size(), false);  // those in a cycle, or behind one, stay so
  for (const int node : order) supported[node] = true;
  for (const ImportProblem& problem : problems)
    if (problem.nodeIndex >= 0)
      supported[problem.nodeIndex] = false;
    else
      supported.assign(nodes.size(), false);

  std::vector<Subgraph> runs;
  std::vector<bool> listed(nodes.size(), false);
  const auto append = [&](int64_t node) {
    if (runs.empty() || runs.back().supported != supported[node])
      runs.push_back({{}, supported[node]});
    runs.back().nodes.push_back(node);
    listed[node] = true;
  };
  for (const int node : order) append(node);
  for (size_t i = 0; i < nodes.size(); ++i)
    if (!listed[i]) append(static_cast<int64_t>(i));
  return runs;
}

}  // namespace camshaft::onnx
