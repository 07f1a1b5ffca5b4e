#include "compiler/compile.h"

#include <set>

#include "backend/kernel.h"
#include "backends/backends.h"
#include "compiler/bodies.h"
#include "compiler/branches.h"
#include "compiler/optimize.h"
#include "compiler/phase.h"
#include "compiler/plain_layers.h"
#include "plan/planner.h"
#include "support/cpu_info.h"
#include "support/error.h"
#include "support/stopwatch.h"
#include "tuner/choose.h"

namespace camshaft {
namespace {

constexpr std::string_view kWhole = "Building the engine";

ProfilePlan buildProfile(Graph graph, const ShapeProfile& profile, int index,
                         const CompileOptions& options, ChooseOptions choose, Plan& plan,
                         WeightsBuilder& weights, BinariesBuilder& binaries) {
  std::vector<std::string> guessed;
  const ResolvedProfile resolved = resolveProfile(graph, profile, guessed);
  const std::set<std::string_view> isGuessed(guessed.begin(), guessed.end());
  for (size_t i = 0; i < graph.inputs.size(); ++i)
    if (isGuessed.contains(graph.inputs[i]->name))
      options.log.warning("input '", graph.inputs[i]->name,
                          "' has run-time dimensions that profile ", index,
                          " does not bound; guessed ", join(resolved.inputs[i].max, "x"),
                          " as its largest shape (set min, opt and max to choose)");
  const Phase phase(options.progress, str("Choosing kernels for profile ", index), kWhole,
                    static_cast<int>(graph.nodeCount()));
  choose.progress = [&](int node, int) { return phase.advance(node); };
  std::vector<ChosenKernel> chosen = chooseKernels(graph, resolved, choose);
  if (options.device != "reference" && !options.isReplay())
    warnOfPlainLayers(chosen, graph, resolved, options.log);
  const BodyPlans bodies = planBodies(graph, resolved, options, choose, weights, plan.bodies);
  return planProfile(graph, resolved, std::move(chosen), plan.inputs, plan.hasDeviceMemory, weights,
                     binaries, bodies);
}

}  // namespace

Plan compile(Graph graph, CompileOptions options) {
  const Stopwatch watch;
  if (graph.outputs.empty())
    fail(ErrorKind::kInvalidModel,
         "the network has no outputs; mark at least one tensor as output");
  const std::vector<ShapeProfile> profiles =
      options.profiles.empty() ? std::vector<ShapeProfile>(1) : options.profiles;
  const Phase whole(options.progress, std::string(kWhole), "",
                    1 + static_cast<int>(profiles.size()));
  TimingCache privateTimings;
  if (!options.timings) options.timings = &privateTimings;
  if (options.threads == 0) options.threads = usableCores();
  ChooseOptions choose{.tuning = options, .backends = buildBackends(options.device), .target = {}};
  const BuildBackend& backend = *choose.backends.front();

  Plan plan;
  plan.networkName = graph.name;
  plan.device = options.device;
  plan.hasDeviceMemory = backend.hasDeviceMemory;
  plan.profilingVerbosity = options.profilingVerbosity;
  verify(graph, "import");
  optimize(graph, options, backend, kWhole);
  optimizeBodies(graph, options);
  whole.finishStep(0);
  separateOutputs(graph);
  verify(graph, "separate outputs");
  plan.inputs = describeInputs(graph, plan.hasDeviceMemory);
  plan.outputs = describeOutputs(graph);

  choose.target = backend.target(options.computeCapability);
  plan.builtFor = choose.target.name;
  if (plan.hasDeviceMemory && !options.isReplay()) choose.deviceTrials = makeDeviceTrials(choose);
  WeightsBuilder weights;
  BinariesBuilder binaries;
  for (size_t i = 0; i < profiles.size(); ++i) {
    plan.profiles.push_back(buildProfile(graph.clone(), profiles[i], static_cast<int>(i), options,
                                         choose, plan, weights, binaries));
    whole.finishStep(1 + static_cast<int>(i));
  }
  auto bytes = std::make_shared<const std::vector<std::byte>>(weights.take());
  setWeights(plan, *bytes, bytes);
  plan.binaries = binaries.take();
  if (options.isReplay()) return plan;
  if (options.sideBySide && choose.target.isPresent && options.optimizationLevel > 0)
    chooseBranches(plan, options.wrapDevice, options.loadPlugin, options.log);
  options.log.info("Built ", plan.profiles[0].steps.size(), " steps in ",
                   watch.milliseconds() / 1000, " s: weights ", plan.weights.size() / 1024,
                   " KiB, activations ", plan.profiles[0].arenaBytes / 1024, " KiB");
  return plan;
}

}  // namespace camshaft
