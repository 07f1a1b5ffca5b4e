// Picks a kernel for every node.
#pragma once

#include <chrono>
#include <functional>
#include <vector>

#include "backend/device.h"
#include "backend/kernel.h"
#include "plan/planner.h"
#include "plan/profile.h"
#include "support/log.h"
#include "tuner/selector.h"
#include "tuner/timing_cache.h"
#include "tuner/trial.h"

namespace camshaft {

// The decisions of a whole build, in order: noted down, or those of an earlier build that are taken
// again, with nothing timed and no device code compiled.
struct DecisionTape {
  std::vector<KernelDecision> decisions;
  bool isReplayed = false;
  size_t next = 0;  // of those that are taken again
};

// What a whole build asks of the tuner (CompileOptions).
struct TuneOptions {
  int optimizationLevel = 3;  // 0 to 5; 0: take the first that fits; above, time the candidates
  int threads = 0;            // kernels are timed with; compile() uses all cores for 0
  bool allowTf32 = true;
  DataType productType = DataType::kF32;          // what f32 products may round their operands to
  bool allowCublasLt = true, allowCudnn = true;   // the vendor's libraries, where they are there
  int64_t workspaceLimit = DimRange::kUnbounded;  // bytes one layer may use besides its tensors
  int timingRuns = 1;                             // at least this many launches per candidate
  int mostTactics = 0;                            // timed of a layer's candidates; 0: all
  bool timeLayers = false;   // all, also where nothing is to choose: the inspector shows it
  DeviceWrapper wrapDevice;  // kernels are timed in its memory; null: the device's own
  PluginLoader loadPlugin;   // for plugins that are timed; null: the network has none
  // Kernels of a device are tried in a process of their own, unless wrapDevice is set, whose memory
  // is this one's; one that takes longer than this hangs.
  std::chrono::milliseconds trialLimit{30'000};
  TimingCache* timings = nullptr;  // read and added to; never null where kernels are chosen
  // Layers follow the choices in `timings`, each its own, and add to them; the log lists what there
  // was to choose from.
  bool keepsChoices = false;
  bool failsOnUnknownTimes = false;  // instead of timing a kernel that `timings` do not know
  bool timesLayersAlike = false;     // each by itself; else layers of one problem share times
  KernelSelector* selector = nullptr;
  DecisionTape* tape = nullptr;  // null: nobody wants to know
  bool isReplay() const { return tape && tape->isReplayed; }
  Log log;
};

struct ChooseOptions {
  const TuneOptions& tuning;
  std::vector<const BuildBackend*> backends;            // asked first to last
  BuildTarget target;                                   // of the first
  std::shared_ptr<TrialRunner> deviceTrials = nullptr;  // of the whole build; null: of this choice
  // Told how much of the work is done, as a part of all of it; what it throws ends the build.
  std::function<void(int done, int all)> progress = nullptr;

  // Where it has, kernels of backends without device code run on the host.
  bool hasDeviceMemory() const { return backends.front()->hasDeviceMemory; }
};

// Where kernels of the device are tried: a process takes its time to start, and a build that
// chooses for several profiles and bodies needs one.
std::shared_ptr<TrialRunner> makeDeviceTrials(const ChooseOptions& options);

// Nodes whose fused region no kernel takes whole are split in the graph and asked again, so the
// graph may change. The result covers every node that needs a kernel, in graph order; what those
// have packed is in `weights`.
std::vector<ChosenKernel> chooseKernels(Graph& graph, const ResolvedProfile& profile,
                                        const ChooseOptions& options, WeightsBuilder& weights);

}  // namespace camshaft
