#include "onnx/node_order.h"

#include <algorithm>
#include <queue>
#include <unordered_map>
#include <unordered_set>

namespace camshaft::onnx::importer {

namespace {

void collectReads(const wire::Node& node, std::vector<std::string_view>& names);

// What a subgraph reads of the graph around it. Names of its own hide those outside: its node may
// well give its result the name that it has inside.
void collectOuterReads(const wire::Graph& graph, std::vector<std::string_view>& names) {
  std::unordered_set<std::string_view> own;
  for (const wire::ValueInfo& input : graph.inputs) own.insert(input.name);
  for (const wire::Tensor& tensor : graph.initializers) own.insert(tensor.name);
  for (const wire::SparseTensor& tensor : graph.sparseInitializers) own.insert(tensor.values.name);
  for (const wire::Node& inner : graph.nodes)
    own.insert(inner.outputs.begin(), inner.outputs.end());
  std::vector<std::string_view> reads;
  for (const wire::Node& inner : graph.nodes) collectReads(inner, reads);
  for (const wire::ValueInfo& output : graph.outputs) reads.push_back(output.name);
  for (const std::string_view name : reads)
    if (!own.contains(name)) names.push_back(name);
}

// Names a node reads, those of its subgraphs included.
void collectReads(const wire::Node& node, std::vector<std::string_view>& names) {
  for (const std::string_view input : node.inputs)
    if (!input.empty()) names.push_back(input);
  for (const wire::Attribute& attribute : node.attributes)
    for (const wire::Graph& graph : attribute.graphs) collectOuterReads(graph, names);
}

// Follows unfinished producers until one comes back: that stretch is a cycle.
std::vector<int> findCycle(const std::vector<std::vector<int>>& needs,
                           const std::vector<int>& waiting) {
  const auto start =
      std::find_if(waiting.begin(), waiting.end(), [](int count) { return count > 0; });
  if (start == waiting.end()) return {};
  std::vector<int> path;
  int at = static_cast<int>(start - waiting.begin());
  while (true) {
    const auto seen = std::find(path.begin(), path.end(), at);
    if (seen != path.end()) return {seen, path.end()};
    path.push_back(at);
    at = *std::find_if(needs[at].begin(), needs[at].end(),
                       [&](int other) { return waiting[other] > 0; });
  }
}

}  // namespace

NodeOrder orderNodes(const std::vector<wire::Node>& nodes,
                     const std::function<bool(std::string_view)>& isKnown) {
  NodeOrder result;
  std::unordered_map<std::string_view, int> producers;
  const int count = static_cast<int>(nodes.size());
  for (int i = 0; i < count; ++i)
    for (const std::string_view output : nodes[i].outputs)
      if (!output.empty() && (isKnown(output) || !producers.emplace(output, i).second))
        result.duplicates.push_back(output);

  std::vector<std::vector<int>> needs(count), feeds(count);
  std::vector<int> waiting(count, 0);
  for (int i = 0; i < count; ++i) {
    std::vector<std::string_view> names;
    collectReads(nodes[i], names);
    for (const std::string_view name : names) {
      const auto it = producers.find(name);
      if (it == producers.end()) continue;
      needs[i].push_back(it->second);
      feeds[it->second].push_back(i);
      ++waiting[i];
    }
  }
  std::priority_queue<int, std::vector<int>, std::greater<>> ready;
  for (int i = 0; i < count; ++i)
    if (waiting[i] == 0) ready.push(i);
  while (!ready.empty()) {
    const int node = ready.top();
    ready.pop();
    result.order.push_back(node);
    for (const int user : feeds[node])
      if (--waiting[user] == 0) ready.push(user);
  }
  result.inCycle = findCycle(needs, waiting);
  return result;
}

}  // namespace camshaft::onnx::importer
