#include "runtime/segments.h"

#include <algorithm>
#include <tuple>

namespace camshaft {
namespace {

using HostMemory = std::tuple<Place, int64_t, int32_t>;
HostMemory memoryOf(const Operand& operand) {
  return {operand.place, operand.offset, operand.index};
}

// Whether queued work may be at the host's memory of a context while the host is: copies from and
// to it, and bodies that find their inputs there.
bool sharesHostMemory(const Plan& plan, const ProfilePlan& profile) {
  const auto isOwn = [&](const Operand& operand) {
    return operand.place != Place::kInput && isHostOperand(plan, profile, operand);
  };
  return std::ranges::any_of(profile.steps, [&](const Step& step) {
    if (step.kind == StepKind::kCopy) return isOwn(step.inputs[0]) || isOwn(step.outputs[0]);
    if (!runsBodies(step) || isHostStep(plan, step)) return false;
    return std::any_of(step.inputs.begin() + static_cast<std::ptrdiff_t>(courseInputs(step)),
                       step.inputs.end(), isOwn);
  });
}

}  // namespace

// On the host one segment is everything: steps run one after the other anyway.
std::vector<Segment> segmentsOf(const Plan& plan, const ProfilePlan& profile, bool onDevice,
                                const std::set<size_t>& unrecordable) {
  std::vector<Segment> segments;
  const std::vector<Step>& steps = profile.steps;
  const bool isShared = onDevice && sharesHostMemory(plan, profile);
  std::set<HostMemory> copied;
  const auto readsCopies = [&](const Step& step) {
    for (size_t i = 0; i < step.inputs.size(); ++i)
      if (readsOnHost(plan, step, i) && copied.contains(memoryOf(step.inputs[i]))) return true;
    return false;
  };
  for (size_t i = 0; i < steps.size(); ++i) {
    const bool onHost = onDevice && isHostStep(plan, steps[i]);
    // A graph that holds a copy from or to the host crashes in the driver when it is launched after
    // that memory was given back and taken anew, at the same address too.
    const bool isCopy = steps[i].kind == StepKind::kCopy;
    if (isCopy) copied.insert(memoryOf(steps[i].outputs[0]));
    const bool isLed = onDevice && !onHost && runsBodies(steps[i]);
    const bool waits = onHost ? isShared : isLed && readsCopies(steps[i]);
    const bool isAlone = onHost || isCopy || isLed || unrecordable.contains(i);
    if (isAlone || segments.empty() || segments.back().isAlone)
      segments.push_back({i, i + 1, onHost, isAlone, waits});
    else
      segments.back().end = i + 1;
    for (size_t output = 0; output < steps[i].outputs.size(); ++output)
      if (steps[i].outputs[output].place == Place::kOutput)
        segments.back().results.emplace_back(i, output);
  }
  return segments;
}

}  // namespace camshaft
