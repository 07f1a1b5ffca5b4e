#include "compiler/compile.h"

#include <algorithm>

#include "backend/kernel.h"
#include "backends/backends.h"
#include "compiler/precision.h"
#include "passes/pipeline.h"
#include "plan/planner.h"
#include "support/cpu_info.h"
#include "support/error.h"
#include "support/stopwatch.h"
#include "tuner/choose.h"

namespace camshaft {
namespace {

// A phase shown to the progress monitor from construction to destruction.
class Phase {
 public:
  Phase(BuildProgress* progress, std::string name, std::string_view parent, int steps)
      : progress_(progress), name_(std::move(name)) {
    if (progress_) progress_->begin(name_, parent, steps);
  }
  ~Phase() {
    if (progress_) progress_->end(name_);
  }
  bool advance(int step) const { return !progress_ || progress_->advance(name_, step); }
  void finishStep(int step) const {
    if (!advance(step))
      fail(ErrorKind::kInvalidArgument, "the build was cancelled by its progress monitor");
  }

 private:
  BuildProgress* progress_;
  std::string name_;
};

constexpr std::string_view kWhole = "Building the engine";

void optimize(Graph& graph, const CompileOptions& options, const BuildBackend& backend) {
  const Phase phase(options.progress, "Optimising the graph", kWhole,
                    static_cast<int>(pipeline().size()));
  PassOptions passOptions{.channelsLast = backend.prefersChannelsLast,
                          .fusion = backend.fusion,
                          .optimizationLevel = options.optimizationLevel,
                          .log = options.log,
                          .disabled = options.disabledPasses};
  settlePrecision(graph, options, passOptions);
  const PipelineHooks hooks{
      .progress = [&](std::string_view, int index, int) { return phase.advance(index); },
      .passDone =
          [&](const Graph& after, const PassRecord& record) {
            options.log.verbose("pass ", record.name, ": ", record.nodesBefore, " to ",
                                record.nodesAfter, " nodes in ", record.milliseconds, " ms");
            if (options.dump) options.dump(record.name, after);
          },
  };
  runPipeline(graph, passOptions, hooks);
}

ProfilePlan buildProfile(Graph graph, const ShapeProfile& profile, int index,
                         const CompileOptions& options, ChooseOptions choose,
                         const std::vector<IoTensor>& inputs, WeightsBuilder& weights,
                         BinariesBuilder& binaries) {
  std::vector<std::string> guessed;
  const ResolvedProfile resolved = resolveProfile(graph, profile, guessed);
  for (size_t i = 0; i < graph.inputs.size(); ++i)
    if (std::count(guessed.begin(), guessed.end(), graph.inputs[i]->name) > 0)
      options.log.warning("input '", graph.inputs[i]->name,
                          "' has run-time dimensions that profile ", index,
                          " does not bound; guessed ", join(resolved.inputs[i].max, "x"),
                          " as its largest shape (set min, opt and max to choose)");
  const Phase phase(options.progress, str("Choosing kernels for profile ", index), kWhole,
                    static_cast<int>(graph.nodeCount()));
  choose.progress = [&](int node, int) { return phase.advance(node); };
  std::vector<ChosenKernel> chosen = chooseKernels(graph, resolved, choose);
  return planProfile(graph, resolved, std::move(chosen), inputs, choose.hasDeviceMemory, weights,
                     binaries);
}

// The machine or device that kernels are chosen for.
std::string describeTarget(const CompileOptions& options) {
  if (options.device != "cuda") return runtimeBackends().front()->describeDevice();
  if (options.computeCapability != 0) return str("sm_", options.computeCapability);
  if (const std::string reason = whyUnusable("cuda"); !reason.empty())
    fail(ErrorKind::kUnsupported, "cannot build for CUDA: ", reason);
  return findRuntimeBackend("cuda")->describeDevice();
}

}  // namespace

Plan compile(Graph graph, const CompileOptions& options) {
  const Stopwatch watch;
  if (graph.outputs.empty())
    fail(ErrorKind::kInvalidModel,
         "the network has no outputs; mark at least one tensor as output");
  const std::vector<ShapeProfile> profiles =
      options.profiles.empty() ? std::vector<ShapeProfile>(1) : options.profiles;
  const Phase whole(options.progress, std::string(kWhole), "",
                    1 + static_cast<int>(profiles.size()));
  const std::vector<const BuildBackend*> backends = buildBackends(options.device);

  Plan plan;
  plan.networkName = graph.name;
  plan.device = options.device;
  plan.profilingVerbosity = options.profilingVerbosity;
  verify(graph, "import");
  optimize(graph, options, *backends.front());
  whole.finishStep(0);
  separateOutputs(graph);
  verify(graph, "separate outputs");
  plan.inputs = describeInputs(graph, hasDeviceMemory(plan));
  plan.outputs = describeOutputs(graph);

  TimingCache privateTimings;
  plan.builtFor = describeTarget(options);
  if (backends.front()->useTarget) backends.front()->useTarget(options.computeCapability);
  ChooseOptions choose{.backends = backends,
                       .optimizationLevel = options.optimizationLevel,
                       .canMeasure = options.computeCapability == 0,
                       .hasDeviceMemory = hasDeviceMemory(plan),
                       .threads = options.threads > 0 ? options.threads : usableCores(),
                       .allowTf32 = options.allowTf32,
                       .timings = options.timings ? options.timings : &privateTimings,
                       .deviceKey = plan.builtFor,
                       .workspaceLimit = options.workspaceLimit,
                       .timingRuns = options.timingRuns,
                       .timeSingleCandidates = options.timeLayers,
                       .log = options.log};
  WeightsBuilder weights;
  BinariesBuilder binaries;
  for (size_t i = 0; i < profiles.size(); ++i) {
    plan.profiles.push_back(buildProfile(graph.clone(), profiles[i], static_cast<int>(i), options,
                                         choose, plan.inputs, weights, binaries));
    whole.finishStep(1 + static_cast<int>(i));
  }
  auto bytes = std::make_shared<const std::vector<std::byte>>(weights.take());
  plan.weights = *bytes;
  plan.weightsOwner = std::move(bytes);
  plan.binaries = binaries.take();
  options.log.info("Built ", plan.profiles[0].steps.size(), " steps in ",
                   watch.milliseconds() / 1000, " s: weights ", plan.weights.size() / 1024,
                   " KiB, activations ", plan.profiles[0].arenaBytes / 1024, " KiB");
  return plan;
}

}  // namespace camshaft
