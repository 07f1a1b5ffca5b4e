#include "compiler/optimize.h"

#include "compiler/faster_in_bytes.h"
#include "compiler/phase.h"
#include "compiler/precision.h"
#include "ops/ops.h"
#include "ops/rules.h"
#include "passes/passes.h"
#include "passes/pipeline.h"

namespace camshaft {

// Before the passes, since these take out nodes that would have failed at run time, and after them,
// so that no kernel works on sizes that nobody has looked at. Nodes that nothing needs ask nothing.
static void recordSizeConditions(Graph& graph) {
  removeDead(graph, {});
  for (const auto& node : graph.nodes())
    for (SizeCondition& condition : sizeConditionsOf(*node)) graph.require(std::move(condition));
}

static void allowBytes(const Graph& graph, const CompileOptions& options,
                       const BuildBackend& backend, PassOptions& passOptions) {
  if (options.ranges.empty()) return;
  if (!backend.fusion.integerProducts)
    return options.log.info(
        "this device has no products of 8-bit integers, so the engine stays in "
        "floating point");
  passOptions.ranges = options.ranges;
  for (const auto& node : graph.nodes()) {
    if ((node->op != &ops::Conv && node->op != &ops::MatMul) || node->name.empty()) continue;
    const auto range = options.ranges.find(node->input(0)->name);
    if (range != options.ranges.end()) passOptions.rangesRead.emplace(node->name, range->second);
  }
  passOptions.isFasterInBytes = fasterInBytes(graph, options, backend);
  passOptions.obeysPrecision = options.precisionRequests == PrecisionRequests::kObey;
}

// What only some devices can. Where the engine is for several generations of GPUs, it is for those
// without, too.
template <class Ability>
static Ability onDevice(Ability (*ability)(const BuildTarget& target),
                        const CompileOptions& options, const BuildBackend& backend) {
  if (!ability || options.gpus == GpuRange::kAmpereAndLater) return {};
  return ability(backend.target(options.computeCapability));
}

void optimize(Graph& graph, const CompileOptions& options, const BuildBackend& backend,
              std::string_view parent) {
  Phase phase(options.progress, "Optimising the graph", parent,
              static_cast<int>(pipeline().size()));
  PassOptions passOptions{.channelsLast = backend.prefersChannelsLast,
                          .fusion = backend.fusion,
                          .optimizationLevel = options.optimizationLevel,
                          .stores16Bit = backend.stores16Bit,
                          .log = options.log,
                          .disabled = options.disabledPasses};
  passOptions.fusion.float8Products = onDevice(backend.multipliesFloat8, options, backend);
  passOptions.fusion.streamedElements = onDevice(backend.streamedElements, options, backend);
  passOptions.fusion.normalisedRows = onDevice(backend.normalisedRows, options, backend);
  settlePrecision(graph, options, backend, passOptions);
  allowBytes(graph, options, backend, passOptions);
  recordSizeConditions(graph);
  const PipelineHooks hooks{
      .progress =
          [&](std::string_view, int index, int count) {
            phase.completePart(index, count);
            return true;
          },
      .passDone =
          [&](const Graph& after, const PassRecord& record) {
            options.log.verbose("pass ", record.name, ": ", record.nodesBefore, " to ",
                                record.nodesAfter, " nodes in ", record.milliseconds, " ms");
            if (options.dump) options.dump(record.name, after);
          },
  };
  if (options.dump) options.dump("network", graph);
  runPipeline(graph, passOptions, hooks);
  recordSizeConditions(graph);
  phase.completeAll();
}

}  // namespace camshaft
