// Builds that share a device.
#pragma once

#include <string_view>

namespace camshaft {

// Held while kernels are timed on a device: builds at the same time, in this or other processes of
// the user, wait for it, since they would time one another's kernels along with their own. Where no
// lock can be had, nobody waits.
class TimingTurn {
 public:
  explicit TimingTurn(std::string_view device);
  ~TimingTurn();
  TimingTurn(const TimingTurn&) = delete;
  TimingTurn& operator=(const TimingTurn&) = delete;

 private:
  int file_;
};

}  // namespace camshaft
