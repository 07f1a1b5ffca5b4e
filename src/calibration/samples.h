// Data that networks are run on: what the user gives.
#pragma once

#include <cstdint>
#include <vector>

namespace camshaft {

struct SampleInput {
  const void* data = nullptr;  // real numbers as f32, all else as the input has it
  std::vector<int64_t> dims;
};

// Each sample holds every input of the model, in its order, and may have sizes of its own.
class Samples {
 public:
  virtual ~Samples() = default;
  virtual int count() const = 0;
  // Valid until the next call.
  virtual std::vector<SampleInput> at(int index) const = 0;
};

}  // namespace camshaft
