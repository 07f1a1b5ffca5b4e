// Runs a network on data and looks at every tensor of it.
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <span>

#include "calibration/cache.h"
#include "compiler/compile.h"

namespace camshaft {

// Sees one tensor of real numbers that a run has written, as f32.
using TensorObserver = std::function<void(const std::string& name, std::span<const int64_t> dims,
                                          std::span<const float> values)>;

// A network built in f32, with nothing timed, that shows its tensors while it runs: those of real
// numbers whose names are in `only`, or all of them.
class ObservedNetwork {
 public:
  ObservedNetwork(Graph graph, CompileOptions options, TensorObserver observer,
                  const std::set<std::string, std::less<>>* only = nullptr);
  ~ObservedNetwork();

  // Shapes are those of the first profile's opt until others are set, which it must allow.
  void setInputShape(size_t input, std::span<const int64_t> dims);
  // An address for each input. Real numbers are f32 there whatever the input's type, all else is as
  // it is; on a device, data may lie in its memory or on the host.
  void run(std::span<const void* const> inputs);

 private:
  class Run;
  std::unique_ptr<Run> run_;
};

// Writes the address of each input's data, in the order of the graph's inputs, and says whether
// there is a batch.
using NextBatch = std::function<bool(std::span<const void*> inputs)>;

// Histograms of all tensors of real numbers, by name, over all batches, in one pass over each. The
// network is built in f32, for the options' device and the opt shapes of their first profile, which
// batches have. Throws Error where there is no batch.
TensorHistograms gatherHistograms(Graph graph, CompileOptions options, const NextBatch& next);

}  // namespace camshaft
