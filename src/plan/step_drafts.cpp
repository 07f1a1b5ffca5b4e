#include "plan/step_drafts.h"

#include <algorithm>
#include <iterator>
#include <set>

#include "ops/control_flow.h"
#include "ops/observe.h"
#include "ops/shape.h"
#include "support/error.h"

namespace camshaft {

// Bodies on the device are led by the host.
Side StepDraft::sideOf(size_t input) const {
  return bodies && !bodies->onHost && bodies->readsOnHost[input] ? Side::kHost : side;
}

Dim StepDraft::workspaceBytes() const {
  return chosen ? chosen->prepared.workspaceBytes : bodies ? Dim(bodies->arenaBytes) : Dim(0);
}

std::vector<Location> StepDraft::reads() const {
  std::vector<Location> all;
  if (copied) all.emplace_back(copied, side == Side::kHost ? Side::kDevice : Side::kHost);
  if (node)
    for (size_t i = 0; i < node->inputs.size(); ++i)
      if (node->inputs[i]) all.emplace_back(storageOf(node->inputs[i]), sideOf(i));
  return all;
}

std::vector<Location> StepDraft::writes() const {
  std::vector<Location> all;
  if (copied) all.emplace_back(copied, side);
  if (node)
    for (const Value* output : node->outputs) all.emplace_back(output, side);
  return all;
}

namespace {

// Whether the values that a node binds are read before the steps: those of an input's contents.
bool isReadBefore(const Graph& graph, const std::vector<IoTensor>& inputs, const Node& node) {
  if (node.op != &ops::BindDims) return false;
  const auto input = std::ranges::find(graph.inputs, node.input(0));
  return input != graph.inputs.end() && !inputs[input - graph.inputs.begin()].valueSlots.empty() &&
         node.as<BindDimsAttrs>().symbols == (*input)->contents;
}

std::vector<StepDraft> orderSteps(const Graph& graph, std::span<ChosenKernel> chosen,
                                  const std::vector<IoTensor>& inputs, bool hasDeviceMemory,
                                  const BodyPlans& bodies) {
  std::vector<StepDraft> drafts;
  size_t next = 0;
  for (const auto& node : graph.nodes()) {
    if (isView(*node) || isReadBefore(graph, inputs, *node)) continue;
    StepDraft draft{node.get()};
    if (needsKernel(*node)) {
      CAMSHAFT_CHECK(next < chosen.size() && chosen[next].node == node.get(),
                     "kernels out of order at ", describe(*node));
      draft.chosen = &chosen[next++];
    }
    if (hasBodies(*node)) draft.bodies = &bodies.at(node.get());
    const bool onHost = draft.chosen   ? draft.chosen->onHost
                        : draft.bodies ? hasDeviceMemory && draft.bodies->onHost
                                       : hasDeviceMemory && node->op != &ops::Observe;
    draft.side = onHost ? Side::kHost : Side::kDevice;
    drafts.push_back(std::move(draft));
  }
  return drafts;
}

// Inputs are copied before everything, where no recording is cut in two by it.
std::vector<StepDraft> withCopies(std::vector<StepDraft> steps, const Graph& graph,
                                  const std::vector<IoTensor>& inputs) {
  std::set<Location> available;
  for (size_t i = 0; i < graph.inputs.size(); ++i)
    available.emplace(graph.inputs[i], inputs[i].isOnHost ? Side::kHost : Side::kDevice);
  std::vector<StepDraft> drafts, ordered;
  const auto require = [&](const Location& location) {
    if (location.first->isConstant() || !available.insert(location).second) return;
    std::vector<StepDraft>& copies = location.first->producer ? ordered : drafts;
    copies.push_back({.node = nullptr, .side = location.second, .copied = location.first});
  };
  for (StepDraft& step : steps) {
    for (const Location& location : step.reads()) require(location);
    for (const Location& location : step.writes()) available.insert(location);
    ordered.push_back(std::move(step));
  }
  for (const auto& output : graph.outputs) require({storageOf(output.value), Side::kDevice});
  std::move(ordered.begin(), ordered.end(), std::back_inserter(drafts));
  return drafts;
}

}  // namespace

std::vector<StepDraft> draftSteps(const Graph& graph, std::span<ChosenKernel> chosen,
                                  const std::vector<IoTensor>& inputs, bool hasDeviceMemory,
                                  const BodyPlans& bodies) {
  std::vector<StepDraft> drafts = orderSteps(graph, chosen, inputs, hasDeviceMemory, bodies);
  return hasDeviceMemory ? withCopies(std::move(drafts), graph, inputs) : drafts;
}

}  // namespace camshaft
