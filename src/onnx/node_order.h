// The order in which to import a list of nodes.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "onnx/names.h"

namespace camshaft::onnx::importer {

struct NodeOrder {
  std::vector<int> order;    // indices; the model's own order wherever that is possible
  std::vector<int> inCycle;  // nodes that wait for each other, in cycle order; empty: no cycle
  std::vector<std::string_view> duplicates;  // names that two nodes produce
};

// `isKnown` tells names that exist before any node runs. Names nobody makes are left for the
// nodes that want them to report. Nodes of a cycle, and what needs them, are not in `order`.
NodeOrder orderNodes(const std::vector<wire::Node>& nodes,
                     const std::function<bool(std::string_view)>& isKnown);

}  // namespace camshaft::onnx::importer
