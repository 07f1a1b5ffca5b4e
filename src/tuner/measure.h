// Times prepared kernels on the real device with the real sizes.
#pragma once

#include <limits>
#include <memory>

#include "backend/device.h"
#include "backend/kernel.h"
#include "support/thread_pool.h"

namespace camshaft {

struct MeasureOptions {
  double minMilliseconds = 4;  // total time to spend
  int minRuns = 3;
  // The best time so far of what this competes with: on a device, a kernel that takes many times as
  // long is timed once and let go.
  double best = std::numeric_limits<double>::infinity();
  ThreadPool* threads = nullptr;
};

// A node's operands, for all kernels that compete for it: making them anew for each would take far
// longer than running it. Inputs that are constants are as they are, others are filled with small
// random numbers (integers with zero, a valid index everywhere); outputs hold anything.
class Bench {
 public:
  // `opt`: sizes to time. Device memory comes from what `wrapDevice` gives, where it is not null.
  Bench(const Node& node, SymbolValue opt, const DeviceWrapper& wrapDevice);
  ~Bench();
  Bench(const Bench&) = delete;
  Bench& operator=(const Bench&) = delete;

  // Milliseconds of one launch. On the host it is a median. On a device, launches are timed inside
  // a recording, where the cost of launching one is as small as it will be in a network, and the
  // quickest replay counts: whoever else uses the device can only add to it.
  double measure(std::string_view runtimeKernel, const Prepared& prepared,
                 const std::vector<std::byte>* binary, const MeasureOptions& options);

 private:
  class Operands;
  Operands& operandsOn(Device* device);

  const Node& node_;
  SymbolValue opt_;
  const DeviceWrapper& wrapDevice_;
  std::unique_ptr<Operands> operands_;
};

}  // namespace camshaft
