#include "accuracy/search.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace camshaft {
namespace {

// The least cost that is told from another: errors below a thousandth of the bound are all alike.
constexpr double kLeastCost = 1e-6;

// How often a run of lowerings goes on behind a step that was one too many.
constexpr int kRounds = 4;

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
  // Steps in order, without those that were one too many; an error that was more than it seemed
  // alone does not keep those behind it from being lowered.
  std::vector<Lowering> steps = order;
  size_t kept = 0;
  for (int round = 0; round < kRounds && kept < steps.size(); ++round) {
    size_t refused = steps.size() + 1;
    for (size_t next = round == 0 ? steps.size() : (kept + refused) / 2; kept + 1 < refused;
         next = (kept + refused) / 2)
      (tryOne(withFirst(groups, steps, next)) ? kept : refused) = next;
    if (kept == steps.size()) break;
    const int group = steps[kept].group;
    const auto behind = steps.begin() + static_cast<std::ptrdiff_t>(kept);
    steps.erase(std::remove_if(behind, steps.end(),
                               [&](const Lowering& step) { return step.group == group; }),
                steps.end());
  }
  std::vector<Lowering> others(steps.begin() + static_cast<std::ptrdiff_t>(kept), steps.end());
  std::ranges::stable_sort(others, {}, &Lowering::cost);
  for (const Lowering& step : others) {
    if (extra-- <= 0) break;
    Mix mix = best.mix;
    if (std::exchange(mix[static_cast<size_t>(step.group)], step.level) != step.level) tryOne(mix);
  }
  return best;
}

}  // namespace camshaft
