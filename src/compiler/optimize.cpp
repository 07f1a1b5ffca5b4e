#include "compiler/optimize.h"

#include "compiler/phase.h"
#include "compiler/precision.h"
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
  settlePrecision(graph, options, backend, passOptions);
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
