// Wall-clock time, and the number that stands for many of them.
#pragma once

#include <chrono>
#include <vector>

namespace camshaft {

// Runs from its construction.
class Stopwatch {
 public:
  double milliseconds() const {
    return std::chrono::duration<double, std::milli>(Clock::now() - start_).count();
  }
  void restart() { start_ = Clock::now(); }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start_ = Clock::now();
};

// The middle value, or the mean of the two middle ones. At least one value is needed.
double median(std::vector<double> values);

}  // namespace camshaft
