// Runs a plan on data of the host, on whichever device it is for.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "calibration/samples.h"
#include "compiler/compile.h"

namespace camshaft {

// Sees one tensor of real numbers that a run has written, as f32.
using TensorObserver = std::function<void(const std::string& name, std::span<const int64_t> dims,
                                          std::span<const float> values)>;

// What a run gave for one output, on the host.
struct OutputTensor {
  DataType type = DataType::kF32;
  std::vector<int64_t> dims;
  std::vector<std::byte> bytes;
};

class PlanRunner {
 public:
  // Of the options, the threads, device wrapper and plugin loader count.
  PlanRunner(Plan plan, const CompileOptions& options, TensorObserver observer = nullptr);
  ~PlanRunner();

  // Shapes are those of the first profile's opt until others are set, which it must allow.
  void setInputShape(size_t input, std::span<const int64_t> dims);
  // An address for each input. Real numbers are f32 there whatever the input's type, all else is as
  // it is; on a device, data may lie in its memory or on the host.
  void run(std::span<const void* const> inputs);
  void run(const Samples& samples, int sample);  // with its shapes
  std::vector<OutputTensor> outputs() const;     // of the last run

 private:
  class Run;
  std::unique_ptr<Run> run_;
};

}  // namespace camshaft
