// A kernel and the operands it is tried on, without the IR: what has to be known to run it, here or
// in another process.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "backend/device.h"
#include "support/thread_pool.h"

namespace camshaft {

// An input of a node. What is no constant is filled with numbers between low and high, the same
// ones every time.
struct TrialInput {
  TensorArg tensor;                  // its data is not set
  bool isPresent = true;             // false: an optional one left out
  std::span<const std::byte> bytes;  // of a constant
  double low = -0.5, high = 0.5;
};

// A node's operands, for all kernels that compete for it.
struct TrialOperands {
  std::vector<TrialInput> inputs;
  std::vector<TensorArg> outputs;  // their data is not set
};

// What memory holds while kernels are tried: a block over and over, which a device can copy itself.
struct Filling {
  std::vector<std::byte> block;  // of at least one byte
  int64_t bytes = 0;             // of all
  std::vector<std::byte> whole() const;
};
// Of an input that is no constant.
Filling fillingOf(const TrialInput& input);
// Of a packed input, as good as others.
Filling anyBytes(const TensorArg& packed);

// What a kernel reads: an input of the node, or bytes packed for it. Without them it is filled, and
// serves to time the kernel.
struct TrialStepInput {
  int nodeInput = -1;
  TensorArg packed;
  std::span<const std::byte> bytes;
};

// A prepared kernel at the sizes to time. Its bytes belong to whoever prepared it.
struct Trial {
  std::string kernel;
  std::span<const std::byte> params, binary;
  std::vector<TrialStepInput> inputs;
  std::vector<int64_t> dims;
  int64_t workspaceBytes = 0;
};

struct MeasureOptions {
  double minMilliseconds = 4;  // total time to spend
  int minRuns = 3;
  // The best time so far of what this competes with: a kernel that takes many times as long is
  // timed once and let go.
  double best = std::numeric_limits<double>::infinity();
};

// The outputs of one launch, those beyond kMostCompared bytes as samples: evenly spread blocks, one
// after the other.
using TrialResults = std::vector<std::vector<std::byte>>;
inline constexpr int64_t kMostCompared = 16 << 20;

struct SampledBlock {
  int64_t offset, size;
};
std::vector<SampledBlock> samplesOf(int64_t bytes);

// Runs kernels on operands. Throws Error with the reason where a kernel cannot be run; the operands
// are still there then, for the next one.
class TrialRunner {
 public:
  virtual ~TrialRunner() = default;
  // What is tried from now on reads these; their bytes must stay until others are set.
  virtual void setOperands(TrialOperands operands) = 0;
  // Milliseconds of one launch. On the host it is a median. On a device, launches are timed inside
  // a recording, where the cost of launching one is as small as it will be in a network, and the
  // quickest replay counts: whoever else uses the device can only add to it.
  virtual double measure(const Trial& trial, const MeasureOptions& options) = 0;
  // One launch on outputs that were poisoned before.
  virtual TrialResults run(const Trial& trial) = 0;
  // False when a kernel has left the device in a state that nothing can run in.
  virtual bool isUsable() = 0;
  // Trials are to come: starts what takes time, and does not wait for it.
  virtual void start() {}
  // This one is to come: what its kernel loads may be loaded meanwhile.
  virtual void loadAhead(const Trial&) {}
};

// Waits until this build may time kernels on the device, and holds the turn as long as it lives.
using TakeTurn = std::function<std::shared_ptr<const void>(const Device& device)>;

// Runs them in this process: host kernels on `threads`, those of a device in memory that comes from
// what `wrapDevice` gives, where it is not null. Turns are taken as usual where `takeTurn` is null.
// Plugins come from `loadPlugin`.
std::unique_ptr<TrialRunner> makeLocalRunner(ThreadPool* threads, DeviceWrapper wrapDevice,
                                             TakeTurn takeTurn = nullptr,
                                             PluginLoader loadPlugin = nullptr);

}  // namespace camshaft
