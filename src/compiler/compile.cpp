#include "compiler/compile.h"

#include <set>

#include "backend/kernel.h"
#include "backends/backends.h"
#include "compiler/aliases.h"
#include "compiler/bodies.h"
#include "compiler/branches.h"
#include "compiler/fixed_sizes.h"
#include "compiler/optimize.h"
#include "compiler/phase.h"
#include "compiler/plain_layers.h"
#include "compiler/plugin_types.h"
#include "compiler/precision.h"
#include "compiler/shape_inputs.h"
#include "compiler/unfused.h"
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
  std::vector<ChosenKernel> chosen;
  {
    Phase phase(options.progress, str("Choosing kernels for profile ", index), kWhole,
                static_cast<int>(graph.nodeCount()));
    choose.progress = [&](int done, int all) { phase.completePart(done, all); };
    chosen = chooseKernels(graph, resolved, choose, weights);
    choose.progress = nullptr;
    phase.completeAll();
  }
  if (options.device != "reference" && !options.isReplay())
    warnOfPlainLayers(chosen, graph, resolved, options.log);
  const BodyPlans bodies =
      planBodies(graph, resolved, options, choose, weights, plan.bodies,
                 {str("Building bodies for profile ", index), std::string(kWhole)});
  const std::vector<int32_t> overwritten = overwrittenInputs(graph, chosen);
  ProfilePlan made = planProfile(graph, resolved, std::move(chosen), plan.inputs,
                                 plan.hasDeviceMemory, weights, binaries, bodies);
  keepAliases(overwritten, made, plan.outputs);
  return made;
}

// Plans of the vendor's libraries are made for one GPU.
BuildTarget targetOf(const BuildBackend& backend, CompileOptions& options) {
  const BuildTarget target = backend.target(options.computeCapability);
  if (!backend.hasDeviceMemory || options.gpus == GpuRange::kThis) return target;
  options.allowCublasLt = options.allowCudnn = false;
  return options.gpus == GpuRange::kAmpereAndLater ? ampereAndLater(target) : target;
}

}  // namespace

Plan compile(Graph graph, CompileOptions options) {
  const Stopwatch watch;
  if (graph.outputs.empty())
    fail(ErrorKind::kInvalidModel,
         "the network has no outputs; mark at least one tensor as output");
  const std::vector<ShapeProfile> profiles =
      options.profiles.empty() ? std::vector<ShapeProfile>(1) : options.profiles;
  Phase whole(options.progress, std::string(kWhole), "", 2 + static_cast<int>(profiles.size()));
  TimingCache privateTimings;
  if (!options.timings) options.timings = &privateTimings;
  if (options.threads == 0) options.threads = usableCores();
  ChooseOptions choose{.tuning = options, .backends = buildBackends(options.device), .target = {}};
  const BuildBackend& backend = *choose.backends.front();
  options.productType = productTypeOf(options, backend);

  Plan plan;
  plan.networkName = graph.name;
  plan.device = options.device;
  plan.hasDeviceMemory = backend.hasDeviceMemory;
  plan.profilingVerbosity = options.profilingVerbosity;
  verify(graph, "import");
  fixSizes(graph, options.profiles);
  bindShapeInputs(graph, options.profiles);
  castAroundPlugins(graph, options);
  if (options.observeUnfused) observeUnfused(graph, options, backend);
  optimize(graph, options, backend, kWhole);
  optimizeBodies(graph, options);
  whole.completeStep();
  separateOutputs(graph);
  verify(graph, "separate outputs");
  plan.inputs = describeInputs(graph, plan.hasDeviceMemory);
  plan.outputs = describeOutputs(graph);
  describeValues(graph, plan.inputs);
  offerAliases(graph, plan);

  choose.target = targetOf(backend, options);
  plan.builtFor = choose.target.name;
  if (plan.hasDeviceMemory && !options.isReplay()) choose.deviceTrials = makeDeviceTrials(choose);
  WeightsBuilder weights(options.weightsInFile ? WeightsBuilder::Place::kScratchFile
                                               : WeightsBuilder::Place::kMemory);
  BinariesBuilder binaries;
  for (size_t i = 0; i < profiles.size(); ++i) {
    plan.profiles.push_back(buildProfile(graph.clone(), profiles[i], static_cast<int>(i), options,
                                         choose, plan, weights, binaries));
    whole.completeStep();
  }
  const std::shared_ptr<const GrowingMemory> bytes = weights.take();
  setWeights(plan, bytes->bytes(), bytes);
  plan.binaries = binaries.take();
  if (options.isReplay()) return plan;
  if (options.sideBySide && choose.target.isPresent && options.optimizationLevel > 0)
    chooseBranches(plan, options, kWhole);
  whole.completeAll();
  options.log.info("Built ", plan.profiles[0].steps.size(), " steps in ",
                   watch.milliseconds() / 1000, " s: weights ", plan.weights.size() / 1024,
                   " KiB, activations ", plan.profiles[0].arenaBytes / 1024, " KiB");
  return plan;
}

}  // namespace camshaft
