// Times one prepared kernel on the real device with the real sizes.
#pragma once

#include <limits>

#include "backend/kernel.h"
#include "support/thread_pool.h"

namespace camshaft {

struct MeasureOptions {
  SymbolValue opt;          // sizes to time
  double minMilliseconds = 4;  // total time to spend
  int minRuns = 3;
  // The best time so far of what this competes with: on a device, a kernel that takes many times as
  // long is timed once and let go.
  double best = std::numeric_limits<double>::infinity();
  ThreadPool* threads = nullptr;
};

// Median milliseconds of one launch. Inputs that are constants are read as they are, others are
// filled with small random numbers (integers with zero, a valid index everywhere). On a device,
// launches are timed inside a recording, where the cost of launching one is as small as it will be
// in a network.
double measure(const Node& node, std::string_view runtimeKernel, const Prepared& prepared,
               const std::vector<std::byte>* binary, const MeasureOptions& options);

}  // namespace camshaft
