// Ways cuDNN offers to run an operation graph, and running one.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backends/cuda/runtime/driver.h"
#include "backends/cuda/runtime/libraries/cudnn_graph.h"

namespace camshaft::cuda {

// What plans are made for: the device of a handle, or one described in words (a finalised
// CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR) that need not be here.
struct PlanTarget {
  cudnnHandle_t handle = nullptr;
  const Descriptor* device = nullptr;
};

// An engine of cuDNN's and its settings: enough to build the same plan again.
struct EngineChoice {
  int64_t engine = 0;
  std::vector<std::pair<cudnnBackendKnobType_t, int64_t>> knobs;
  bool isCompiledLate = false;  // when its plan is built, which takes a good part of a second
  friend bool operator==(const EngineChoice&, const EngineChoice&) = default;
};
std::string toString(const EngineChoice& choice);

// Engines that would not keep what a problem promises. Such that accumulate in 16 bits, go through
// Fourier transforms, whose errors follow the largest value of an image, give other results from
// run to run, or want reordered weights are never offered.
struct EngineRules {
  bool allowTensorCores = true;     // false: f32 that stays f32
  bool allowDownConversion = true;  // of inputs, to 16 bits
};

// cuDNN's suggestions, best first, without repetition. It is asked in several ways, until there
// are `enough`.
inline constexpr size_t kAllSuggestions = static_cast<size_t>(-1);
std::vector<EngineChoice> suggestEngines(const OperationGraph& graph, const PlanTarget& target,
                                         const EngineRules& rules, size_t enough = kAllSuggestions);
// For the calling thread's device.
std::vector<EngineChoice> suggestEngines(const OperationGraph& graph, const EngineRules& rules,
                                         size_t enough);

// The suggestions that are worth building plans of, in the order to try them. Where there are
// engines that need no compiler, one that does is kept only if it was the best guess, as the last
// of the usual plans: it has to be really faster to be worth its loading time. Where there are
// none, `mostLate` of the late ones are kept.
std::vector<EngineChoice> worthTiming(const std::vector<EngineChoice>& suggestions,
                                      size_t mostLate);

struct Binding {
  int64_t id = 0;
  void* address = nullptr;
};

// A plan ready to run in the context it was made in. Runs of one plan take turns: cuDNN does not
// promise that a plan can be executed by several threads at once.
class CudnnPlan {
 public:
  // Throws Error(kUnsupported) where the engine does not take the graph after all.
  CudnnPlan(const OperationGraph& graph, const PlanTarget& target, const EngineChoice& choice);
  // From what json() gave. Throws Error where it is another version's or another device's.
  CudnnPlan(std::string_view json, cudnnHandle_t handle);
  ~CudnnPlan();

  int64_t workspaceBytes() const { return workspaceBytes_; }
  std::string json() const;
  // On the handle's stream. Scalars of the graph are bound like operands.
  void execute(cudnnHandle_t handle, std::span<const Binding> bindings, void* workspace) const;
  // What execute() would launch, as nodes of `graph`; false where the engine cannot say.
  bool fill(CUgraph graph, cudnnHandle_t handle, std::span<const Binding> bindings,
            void* workspace) const;
  // The same plan for the private context, which is the calling thread's; kept.
  const CudnnPlan& inPrivateContext() const;

 private:
  Descriptor plan_;
  int64_t workspaceBytes_ = 0;
  mutable std::mutex mutex_;
  mutable std::unique_ptr<const CudnnPlan> inPrivateContext_;  // touched by visitors of it alone
};

// A plan of this choice for the calling thread's device, or null where the engine does not take
// the graph within the limit after all: suggestions are not promises.
std::shared_ptr<const CudnnPlan> tryBuild(const OperationGraph& graph, const EngineChoice& choice,
                                          int64_t workspaceLimit);

// For a run without a stored plan: the first suggestion that builds, those that need no compiler
// before the others. Throws Error(kUnsupported), naming `what`, when there is none.
std::shared_ptr<const CudnnPlan> planAnew(const OperationGraph& graph, const EngineRules& rules,
                                          int64_t workspaceBytes, std::string_view what);

// Executes `plan` with the operands' addresses and the graph's scalars.
void runPlan(const CudnnPlan& plan, const OperationGraph& graph, std::span<const Binding> operands,
             void* stream, void* workspace, int64_t workspaceBytes);

}  // namespace camshaft::cuda
