// Runs the passes in order.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "passes/pass.h"

namespace camshaft {

// The passes in the order they run; a name appears as often as its pass runs.
std::span<const Pass> pipeline();
const Pass* findPass(std::string_view name);  // null when there is none

// What one pass did.
struct PassRecord {
  std::string_view name;
  bool changed = false;
  double milliseconds = 0;
  size_t nodesBefore = 0, nodesAfter = 0;
};

struct PipelineHooks {
  // Called before each pass; false cancels the build with an Error.
  std::function<bool(std::string_view pass, int index, int count)> progress;
  // Called after each pass that ran, with the verified graph: logs and text dumps hang here.
  std::function<void(const Graph& graph, const PassRecord& record)> passDone;
};

// Runs every pass that is not disabled and verifies the graph after each that changed it. Throws
// Error when cancelled, or when options.disabled names no pass.
std::vector<PassRecord> runPipeline(Graph& graph, const PassOptions& options,
                                    const PipelineHooks& hooks = {});

}  // namespace camshaft
