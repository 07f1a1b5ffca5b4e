// Where what the steps of a profile work on lies.
#pragma once

#include <map>
#include <span>
#include <utility>
#include <vector>

#include "plan/dim_program.h"
#include "plan/step_drafts.h"

namespace camshaft {

using StorageKey = std::pair<const void*, Side>;  // a location, or a draft for its workspace
using Storage = std::map<StorageKey, Operand>;    // without tensors, which differ per use

Dim byteSize(const TensorType& type);
// The most a number of bytes may be under the profile; DimRange::kUnbounded: nothing useful.
int64_t upperBound(const Dim& bytes, const Graph& graph, const ResolvedProfile& profile);

// Gives everything that drafts read, write and work in a place: inputs and outputs with the caller,
// what has a useful bound in the arenas, the rest in buffers of its own. Fills in what `plan` says
// of arenas and buffers; `dims` knows the drafts' sizes.
Storage placeStorage(const Graph& graph, const ResolvedProfile& profile,
                     const std::vector<IoTensor>& inputs, std::span<const StepDraft> drafts,
                     DimProgramBuilder& dims, ProfilePlan& plan);

}  // namespace camshaft
