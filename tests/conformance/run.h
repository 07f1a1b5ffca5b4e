// One inference of a case on an engine, against the operators' own evaluation.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "conformance/case.h"
#include "runtime/context.h"

namespace camshaft::conformance {

std::shared_ptr<const LoadedEngine> build(const Graph& graph, const std::string& device, int level,
                                          std::vector<ShapeProfile> profiles,
                                          int64_t workspaceLimit = DimRange::kUnbounded);

// The inputs of one run with what the graph should make of them.
struct Problem {
  std::vector<HostTensor> inputs;
  std::vector<HostTensor> wanted;
  int profile = 0;

  Problem(const Graph& graph, std::vector<HostTensor> tensors, int profile);
};

// Runs it on memory that starts poisoned and says what went wrong, or "".
std::string runOn(Context& context, const Problem& problem, double tolerance);

}  // namespace camshaft::conformance
