// Cutting a graph into the parts that one provider computes.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

namespace camshaft::ort {

struct PartitionNode {
  std::vector<std::string_view> reads;
  std::vector<std::string_view> writes;
};

// Groups of the nodes that are `wanted`, which are listed in an order that computes everything
// before its use. No way leads from a group out and back into it, so each can be computed at once;
// groups are as large as taking nodes greedily makes them. Positions rise within a group.
std::vector<std::vector<size_t>> partition(const std::vector<PartitionNode>& nodes,
                                           const std::function<bool(size_t)>& wanted);

}  // namespace camshaft::ort
