#include "tuner/decision.h"

#include <algorithm>

namespace camshaft {
namespace {

std::string checkKey(const Candidate& candidate) { return candidate.key + "|checked"; }

}  // namespace

std::vector<Candidate>::iterator fastest(std::vector<Candidate>& candidates) {
  constexpr double kNoiseOfKernels = 1.05, kNoiseOfConfigurations = 1.01;
  const auto isBetter = [](const Candidate& a, const Candidate& b) {
    return a.failure.empty() != b.failure.empty() ? a.failure.empty()
                                                  : a.milliseconds < b.milliseconds;
  };
  const auto firstNear = [&](auto begin, auto end, double noise) {
    const auto best = std::min_element(begin, end, isBetter);
    const double limit = best->milliseconds < 0 ? best->milliseconds : best->milliseconds * noise;
    return std::find_if(begin, end, [&](const Candidate& candidate) {
      return candidate.failure == best->failure && candidate.milliseconds <= limit;
    });
  };
  const auto first = firstNear(candidates.begin(), candidates.end(), kNoiseOfKernels);
  const auto end = std::find_if(first, candidates.end(), [&](const Candidate& candidate) {
    return candidate.kernel != first->kernel;
  });
  return firstNear(first, end, kNoiseOfConfigurations);
}

bool wasChecked(const TimingCache& timings, const Candidate& candidate) {
  return timings.find(checkKey(candidate)).has_value();
}

void noteChecked(TimingCache& timings, const Candidate& candidate) {
  timings.insert(checkKey(candidate), 0);
}

}  // namespace camshaft
