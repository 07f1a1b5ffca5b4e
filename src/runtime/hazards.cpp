#include "runtime/hazards.h"

#include <algorithm>

namespace camshaft {
namespace {

bool meet(const std::vector<MemoryRange>& some, const std::vector<MemoryRange>& others) {
  return std::any_of(some.begin(), some.end(), [&](const MemoryRange& a) {
    return std::any_of(others.begin(), others.end(),
                       [&](const MemoryRange& b) { return a.meets(b); });
  });
}

bool mustWait(const TouchedMemory& later, const TouchedMemory& earlier) {
  return meet(later.read, earlier.written) || meet(later.written, earlier.written) ||
         meet(later.written, earlier.read);
}

}  // namespace

StepOrder orderByMemory(std::span<const TouchedMemory> steps) {
  StepOrder order(steps.size());
  if (steps.size() > kMostOrdered) {
    for (size_t i = 1; i < steps.size(); ++i) order[i] = {i - 1};
    return order;
  }
  std::vector<std::vector<bool>> waitedFor(steps.size());  // directly and through others
  for (size_t i = 0; i < steps.size(); ++i) {
    waitedFor[i].assign(steps.size(), false);
    for (size_t j = i; j-- > 0;) {  // the latest first: it brings the most with it
      if (waitedFor[i][j] || !mustWait(steps[i], steps[j])) continue;
      order[i].push_back(j);
      waitedFor[i][j] = true;
      for (size_t k = 0; k < j; ++k)
        if (waitedFor[j][k]) waitedFor[i][k] = true;
    }
  }
  return order;
}

bool isChain(const StepOrder& order) {
  for (size_t i = 1; i < order.size(); ++i)
    if (order[i] != std::vector<size_t>{i - 1}) return false;
  return true;
}

}  // namespace camshaft
