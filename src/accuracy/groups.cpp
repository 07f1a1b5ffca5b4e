#include "accuracy/groups.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <unordered_map>

#include "passes/precision_rules.h"

namespace camshaft {
namespace {

bool isProduct(const Node& node) {
  return precisionRoleOf(node, {}) == PrecisionRole::kProduct && isFloat(node.output()->dataType());
}

// The group of the first operand that has one; -1: none has.
int groupAbove(const Node& node, const std::unordered_map<const Node*, int>& groupOf) {
  for (const Value* input : node.inputs) {
    if (!input || !input->producer) continue;
    const auto found = groupOf.find(input->producer);
    if (found != groupOf.end()) return found->second;
  }
  return -1;
}

}  // namespace

std::vector<PrecisionGroup> groupsOf(const Graph& graph) {
  std::vector<PrecisionGroup> groups;
  std::unordered_map<const Node*, int> groupOf;
  std::vector<int> early;  // computed from no product
  int index = -1;
  for (const auto& node : graph.nodes()) {
    ++index;
    if (isProduct(*node)) {
      groupOf[node.get()] = static_cast<int>(groups.size());
      groups.push_back({.nodes = std::move(early), .products = {index}});
      groups.back().nodes.push_back(index);
      early.clear();
    } else if (const int above = groupAbove(*node, groupOf); above >= 0) {
      groupOf[node.get()] = above;
      groups[static_cast<size_t>(above)].nodes.push_back(index);
    } else {
      early.push_back(index);
    }
  }
  if (!early.empty()) groups.push_back({.nodes = std::move(early), .products = {}});
  return groups;
}

std::vector<PrecisionGroup> joined(const std::vector<PrecisionGroup>& groups,
                                   const std::vector<std::set<int>>& together) {
  std::vector<size_t> first(groups.size());
  std::iota(first.begin(), first.end(), size_t{0});
  const auto firstOf = [&](size_t group) {
    while (first[group] != group) group = first[group];
    return group;
  };
  std::map<int, size_t> groupOf;
  for (size_t i = 0; i < groups.size(); ++i)
    for (const int node : groups[i].nodes) groupOf[node] = i;
  for (const std::set<int>& nodes : together)
    for (const int node : nodes) {
      const size_t a = firstOf(groupOf.at(*nodes.begin())), b = firstOf(groupOf.at(node));
      first[std::max(a, b)] = std::min(a, b);
    }
  std::map<size_t, PrecisionGroup> made;
  for (size_t i = 0; i < groups.size(); ++i) {
    PrecisionGroup& group = made[firstOf(i)];
    group.nodes.insert(group.nodes.end(), groups[i].nodes.begin(), groups[i].nodes.end());
    group.products.insert(group.products.end(), groups[i].products.begin(),
                          groups[i].products.end());
  }
  std::vector<PrecisionGroup> list;
  for (auto& [index, group] : made) list.push_back(std::move(group));
  return list;
}

std::vector<std::set<int>> namesakes(const Graph& graph) {
  std::map<std::string, std::set<int>> byName;
  int index = 0;
  for (const auto& node : graph.nodes()) byName[node->name].insert(index++);
  std::vector<std::set<int>> several;
  for (auto& [name, nodes] : byName)
    if (nodes.size() > 1 && !name.empty()) several.push_back(std::move(nodes));
  return several;
}

}  // namespace camshaft
