// The steps of a profile in the order they run, before they have memory.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "plan/planner.h"

namespace camshaft {

// Where a value lies. Without device memory there is one side, the device's.
enum class Side { kDevice, kHost };

using Location = std::pair<const Value*, Side>;  // of a value that has storage

struct StepDraft {
  const Node* node;                       // null: copies
  ChosenKernel* chosen = nullptr;         // null: copies, or is done by the runtime
  const PlannedBodies* bodies = nullptr;  // which it runs
  Side side = Side::kDevice;              // where it runs and its operands lie
  const Value* copied = nullptr;          // to `side`, from the other
  std::vector<int32_t> bindSlots;
  int32_t dimBegin = 0, dimEnd = 0;

  bool isRuntimeStep() const { return node && !chosen; }
  Side sideOf(size_t input) const;
  Dim workspaceBytes() const;
  std::vector<Location> reads() const;
  std::vector<Location> writes() const;
};

// A draft for each node that is no view, with `chosen` in their order. With device memory, host
// steps and device steps work on their own side: a value is copied to the other one before its
// first use there, and graph outputs end on the device.
std::vector<StepDraft> draftSteps(const Graph& graph, std::span<ChosenKernel> chosen,
                                  const std::vector<IoTensor>& inputs, bool hasDeviceMemory,
                                  const BodyPlans& bodies);

}  // namespace camshaft
