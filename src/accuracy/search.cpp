#include "accuracy/search.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace camshaft {
namespace {

// The least cost that is told from another: errors below a thousandth of the bound are all alike.
constexpr double kLeastCost = 1e-6;

double ratioOf(const Lowering& step) { return step.gain / std::max(step.cost, kLeastCost); }

// Steps of one group with falling ratios: where a later step is the better bargain, both are one.
std::vector<Lowering> stepsOf(int group, std::vector<LevelCost> levels) {
  std::erase_if(levels,
                [](const LevelCost& each) { return !std::isfinite(each.error) || each.gain <= 0; });
  std::ranges::sort(levels, {}, &LevelCost::error);
  std::vector<Lowering> steps;
  double cost = 0, gain = 0;
  for (const LevelCost& level : levels) {
    if (level.gain <= gain) continue;
    const double squared = level.error * level.error;
    Lowering step{group, level.level, squared - cost, level.gain - gain};
    while (!steps.empty() && ratioOf(step) >= ratioOf(steps.back())) {
      step.cost += steps.back().cost;
      step.gain += steps.back().gain;
      steps.pop_back();
    }
    steps.push_back(step);
    cost = squared;
    gain = level.gain;
  }
  return steps;
}

Mix withFirst(size_t groups, const std::vector<Lowering>& order, size_t count) {
  Mix mix(groups, 0);
  for (size_t i = 0; i < count; ++i) mix[static_cast<size_t>(order[i].group)] = order[i].level;
  return mix;
}

}  // namespace

std::vector<Lowering> orderLowerings(const std::vector<std::vector<LevelCost>>& groups) {
  std::vector<Lowering> order;
  for (size_t i = 0; i < groups.size(); ++i) {
    const std::vector<Lowering> steps = stepsOf(static_cast<int>(i), groups[i]);
    order.insert(order.end(), steps.begin(), steps.end());
  }
  std::ranges::stable_sort(order, std::greater<>(), ratioOf);
  return order;
}

MixTrial searchMix(size_t groups, const std::vector<Lowering>& order, const TryMix& attempt,
                   int extra) {
  MixTrial best = attempt(Mix(groups, 0));
  const auto tryOne = [&](const Mix& mix) {
    MixTrial trial = attempt(mix);
    const bool keeps = trial.keeps;
    if (keeps && trial.milliseconds < best.milliseconds) best = std::move(trial);
    return keeps;
  };
  size_t kept = 0, refused = order.size() + 1;
  for (size_t next = order.size(); kept + 1 < refused; next = (kept + refused) / 2)
    (tryOne(withFirst(groups, order, next)) ? kept : refused) = next;

  // The step right behind was one too many.
  const size_t behind = std::min(kept + 1, order.size());
  std::vector<Lowering> others(order.begin() + static_cast<std::ptrdiff_t>(behind), order.end());
  std::ranges::stable_sort(others, {}, &Lowering::cost);
  for (const Lowering& step : others) {
    if (extra-- <= 0) break;
    Mix mix = best.mix;
    if (std::exchange(mix[static_cast<size_t>(step.group)], step.level) != step.level) tryOne(mix);
  }
  return best;
}

}  // namespace camshaft
