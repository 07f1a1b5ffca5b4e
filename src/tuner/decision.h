// Which of the timed candidates is taken.
#pragma once

#include <limits>

#include "tuner/candidates.h"

namespace camshaft {

// In the timing cache, for a kernel that refused the problem or was dropped.
inline constexpr double kRefused = std::numeric_limits<double>::infinity();

// The first kernel of the list that is within the noise of the fastest: so builds repeat, and
// kernels that trade precision, which stand after those that do not, must really be faster. Of its
// configurations, which differ in nothing but speed, the fastest or nearly so. Those with a failure
// come last.
std::vector<Candidate>::iterator fastest(std::vector<Candidate>& candidates);

// Whether the results of this kernel for this problem were looked at before.
bool wasChecked(const TimingCache& timings, const Candidate& candidate);
void noteChecked(TimingCache& timings, const Candidate& candidate);

}  // namespace camshaft
