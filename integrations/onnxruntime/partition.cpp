#include "onnxruntime/partition.h"

#include <algorithm>
#include <unordered_map>

namespace camshaft::ort {

// Wave by wave: a node of wave k waits for something that leaves the group of wave k - 1. So a
// wanted node belongs to the last wave among what it reads, and one that is not wanted and reads
// from the group of a wave opens the next. A way that leaves a group passes such a node, and what
// comes after is of a later wave.
std::vector<std::vector<size_t>> partition(const std::vector<PartitionNode>& nodes,
                                           const std::function<bool(size_t)>& wanted) {
  struct Origin {
    size_t wave = 0;
    bool inGroup = false;
  };
  std::unordered_map<std::string_view, Origin> origins;
  std::vector<std::vector<size_t>> groups;
  for (size_t i = 0; i < nodes.size(); ++i) {
    const bool isWanted = wanted(i);
    size_t wave = 0;
    for (const std::string_view name : nodes[i].reads)
      if (const auto origin = origins.find(name); origin != origins.end())
        wave = std::max(wave, origin->second.wave + (origin->second.inGroup && !isWanted ? 1 : 0));
    for (const std::string_view name : nodes[i].writes) origins[name] = {wave, isWanted};
    if (!isWanted) continue;
    if (groups.size() <= wave) groups.resize(wave + 1);
    groups[wave].push_back(i);
  }
  std::erase_if(groups, [](const std::vector<size_t>& group) { return group.empty(); });
  return groups;
}

}  // namespace camshaft::ort
