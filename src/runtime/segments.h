// Which steps of a profile are launched, and on a device recorded, as one.
#pragma once

#include <cstddef>
#include <set>
#include <utility>
#include <vector>

#include "plan/plan.h"

namespace camshaft {

// Steps [begin, end) that run without the host's help, or one step that the host runs or leads, or
// that cannot be recorded.
struct Segment {
  size_t begin, end;
  bool onHost, isAlone;
  bool waits;  // the host touches memory that queued work may be at
  std::vector<std::pair<size_t, size_t>> results = {};  // steps' outputs that are the network's
};

// `onDevice`: the plan runs on a device, with memory of its own. `unrecordable` are steps that were
// seen to be.
std::vector<Segment> segmentsOf(const Plan& plan, const ProfilePlan& profile, bool onDevice,
                                const std::set<size_t>& unrecordable = {});

}  // namespace camshaft
