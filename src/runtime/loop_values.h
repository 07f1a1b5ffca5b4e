// What the iterations of a loop hand on and leave behind.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "backend/device.h"
#include "plan/plan.h"
#include "support/function_ref.h"

namespace camshaft {

// Where the results of a step with bodies go.
struct BodyResults {
  // Memory for an output, asked for once, when its size is known.
  FunctionRef<void*(size_t output, int64_t bytes)> memory;
  // Its shape; -1 for a dimension that no iteration has decided.
  FunctionRef<void(size_t output, std::span<const int64_t> dims)> shape;
};

// Carried values lie in two buffers by turns: an iteration reads the last one's where that wrote
// them. Scan outputs are written one after the other into the step's result where the number of
// iterations is known beforehand, else into memory that grows. On a device everything stays there,
// in the order of the stream; an iteration then writes its part of a scan output to the same place
// as the others, so that they can be replayed, and it is copied from there.
class LoopValues {
 public:
  LoopValues(const Step& step, Device* device);  // null: the host

  // `count`: of iterations; -1 where only the run knows.
  void begin(std::span<const TensorArg> carried, int64_t count, const BodyResults& results,
             void* stream);
  int64_t iteration() const { return iteration_; }
  size_t carriedCount() const { return carried_.size(); }
  const TensorArg& carried(size_t index) const { return carried_[index].value; }
  // Memory for an output of the body; the step's carried values first, then its scan outputs.
  void* place(size_t output, int64_t bytes);
  // It has run: outputs have these shapes.
  void take(size_t output, std::vector<int64_t> dims);
  void endIteration() { ++iteration_; }
  void deliver();

 private:
  struct Carried {
    TensorArg value;
    DeviceBuffer buffers[2];
    int next = 0;
  };
  struct Scan {
    std::byte* result = nullptr;  // the step's own memory; null: `all`
    DeviceBuffer all, element;    // `element`: on a device, what an iteration writes
    int64_t elementBytes = 0;
    std::vector<int64_t> elementDims;
  };

  void beginScan(size_t output, int64_t elementBytes);
  std::byte* placeNext(Scan& scan);
  void enlarge(DeviceBuffer& buffer, int64_t bytes, int64_t kept = 0);
  void copy(void* to, const void* from, int64_t bytes);

  const Step& step_;
  Device* device_;
  void* stream_ = nullptr;
  const BodyResults* results_ = nullptr;  // of the run
  int64_t iteration_ = 0, count_ = -1;
  std::vector<Carried> carried_;
  std::vector<Scan> scans_;
};

}  // namespace camshaft
