// Runs a network on data and looks at every tensor of it.
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <span>

#include "calibration/cache.h"
#include "calibration/plan_runner.h"
#include "compiler/compile.h"

namespace camshaft {

// The options of a build in f32, for the first profile alone, with nothing timed and nobody told.
CompileOptions plainly(CompileOptions options);

// A network built in f32, with nothing timed, that shows its tensors while it runs: those of real
// numbers whose names are in `only`, or all of them.
class ObservedNetwork {
 public:
  ObservedNetwork(Graph graph, CompileOptions options, TensorObserver observer,
                  const std::set<std::string, std::less<>>* only = nullptr);

  // As PlanRunner does.
  void setInputShape(size_t input, std::span<const int64_t> dims) {
    runner_->setInputShape(input, dims);
  }
  void run(std::span<const void* const> inputs) { runner_->run(inputs); }
  void run(const Samples& samples, int sample) { runner_->run(samples, sample); }

 private:
  std::unique_ptr<PlanRunner> runner_;
};

// Writes the address of each input's data, in the order of the graph's inputs, and says whether
// there is a batch.
using NextBatch = std::function<bool(std::span<const void*> inputs)>;

// Histograms of all tensors of real numbers, by name, over all batches, in one pass over each. The
// network is built in f32, for the options' device and the opt shapes of their first profile, which
// batches have. Throws Error where there is no batch.
TensorHistograms gatherHistograms(Graph graph, CompileOptions options, const NextBatch& next);

}  // namespace camshaft
