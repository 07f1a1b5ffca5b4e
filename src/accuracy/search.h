// Which groups to lower: those that gain the most time for the error they cost, as many as the
// bound allows.
#pragma once

#include <functional>
#include <vector>

namespace camshaft {

// The level of each group: 0 is f32, others are types below it.
using Mix = std::vector<int>;

// What lowering one group alone to a level costs and gains.
struct LevelCost {
  int level = 0;
  double error = 0;  // in parts of the bound
  double gain = 0;   // milliseconds
};

// One more step down for one group.
struct Lowering {
  int group = 0;
  int level = 0;
  double cost = 0;  // squared error: those of independent roundings add up
  double gain = 0;
};

// All steps worth taking, best first: by time gained for squared error, and never a level that
// another one beats in both.
std::vector<Lowering> orderLowerings(const std::vector<std::vector<LevelCost>>& groups);

// What became of a mix: `mix` is the one that was built, which may lower less.
struct MixTrial {
  Mix mix;
  double milliseconds = 0;
  bool keeps = false;
};
using TryMix = std::function<MixTrial(const Mix& mix)>;

// The fastest mix that keeps the bound, of those tried: the longest run of lowerings that does,
// found by halving, then the run without the step that ended it, a few times, and then up to
// `extra` of the cheapest others, each by itself. A mix that lowers nothing must keep it.
MixTrial searchMix(size_t groups, const std::vector<Lowering>& order, const TryMix& attempt,
                   int extra);

}  // namespace camshaft
