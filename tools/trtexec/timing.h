// Timing streams: warming up, then running them side by side.
#pragma once

#include <memory>
#include <vector>

#include "inference.h"

namespace trtexec {

struct TimedRuns {
  std::vector<RunTimes> runs;
  double wallMs = 0;
};

// Warms up, then runs all streams until both --iterations and --duration are reached.
TimedRuns timeStreams(std::vector<std::unique_ptr<Stream>>& streams, const Options& options,
                      ConsoleLogger& log);

}  // namespace trtexec
