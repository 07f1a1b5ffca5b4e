// From a graph with chosen kernels to the steps of a plan.
#pragma once

#include <unordered_map>
#include <vector>

#include "backend/kernel.h"
#include "plan/plan.h"
#include "plan/profile.h"

namespace camshaft {

// A node with the kernel that will run it. Nodes without a kernel need none: Reshape is a view of
// its input, BindDims is done by the runtime.
struct ChosenKernel {
  const Node* node;
  const Kernel* kernel;
  Prepared prepared;
  StepInfo info;
};

bool isView(const Node& node);       // its output is its input's memory
bool needsKernel(const Node& node);  // neither a view nor a BindDims

// Inserts copies so that every graph output has memory of its own: outputs that are inputs,
// constants, views of those, or one value twice.
void separateOutputs(Graph& graph);

// The engine's weights, each distinct block once, 64-byte aligned.
class WeightsBuilder {
 public:
  int64_t add(std::span<const std::byte> bytes);
  std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  std::vector<std::byte> bytes_;
  std::unordered_multimap<uint64_t, std::pair<int64_t, size_t>> known_;  // hash to offset and size
};

// `chosen` is in graph order and covers every node that needs a kernel.
ProfilePlan planProfile(const Graph& graph, const ResolvedProfile& profile,
                        std::vector<ChosenKernel> chosen, WeightsBuilder& weights);

std::vector<IoTensor> describeInputs(const Graph& graph);
std::vector<IoTensor> describeOutputs(const Graph& graph);

}  // namespace camshaft
