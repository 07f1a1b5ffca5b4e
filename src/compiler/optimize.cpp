#include "compiler/optimize.h"

#include "compiler/phase.h"
#include "compiler/precision.h"
#include "passes/pipeline.h"

namespace camshaft {

void optimize(Graph& graph, const CompileOptions& options, const BuildBackend& backend,
              std::string_view parent) {
  const Phase phase(options.progress, "Optimising the graph", parent,
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

}  // namespace camshaft
