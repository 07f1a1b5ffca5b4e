#include "backends/cuda/runtime/libraries/library_queue.h"

#include "backends/cuda/runtime/private_context.h"
#include "backends/cuda/runtime/rebuild_graph.h"
#include "support/error.h"

namespace camshaft::cuda {
namespace {

class OwnGraph {
 public:
  OwnGraph() = default;
  ~OwnGraph() {
    if (graph) driver().cuGraphDestroy(graph);
  }
  OwnGraph(const OwnGraph&) = delete;
  OwnGraph& operator=(const OwnGraph&) = delete;
  CUgraph graph = nullptr;
};

class OwnStream {
 public:
  OwnStream() {
    check(driver().cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), "create a CUDA stream");
  }
  ~OwnStream() { driver().cuStreamDestroy(stream); }
  OwnStream(const OwnStream&) = delete;
  OwnStream& operator=(const OwnStream&) = delete;
  CUstream stream = nullptr;
};

// In the private context, which is the thread's now.
void capture(FunctionRef<void(void* stream)> call, OwnGraph& recorded) {
  const OwnStream own;
  check(driver().cuStreamBeginCapture(own.stream, CU_STREAM_CAPTURE_MODE_RELAXED),
        "record a library's work");
  try {
    call(own.stream);
  } catch (...) {
    driver().cuStreamEndCapture(own.stream, &recorded.graph);
    throw;
  }
  check(driver().cuStreamEndCapture(own.stream, &recorded.graph), "record a library's work");
}

void record(FunctionRef<void()> prepare, FunctionRef<void(void* stream)> call,
            GraphBuilder& graph) {
  PrivateContext& aside = PrivateContext::ofCurrentDevice();
  OwnGraph recorded;
  {
    const PrivateContext::Visit visit(aside);
    prepare();
    capture(call, recorded);
  }
  if (const auto reason = rebuild(recorded.graph, aside.get(), graph))
    fail(ErrorKind::kUnsupported, "it ", *reason);
}

}  // namespace

void queueLibrary(void* stream, FunctionRef<void()> prepare, FunctionRef<void(void* stream)> call) {
  GraphBuilder* const graph = GraphBuilder::of(stream);
  if (!graph) return call(stream);
  try {
    record(prepare, call, *graph);
  } catch (const Error& error) {
    fail(ErrorKind::kUnsupported,
         "a library's work could not be put into a CUDA graph: ", error.message());
  }
}

bool addLibraryNodes(void* stream, FunctionRef<bool(CUgraph graph)> fill) {
  GraphBuilder* const graph = GraphBuilder::of(stream);
  if (!graph) return false;
  OwnGraph filled;
  check(driver().cuGraphCreate(&filled.graph, 0), "make a CUDA graph");
  return fill(filled.graph) && !rebuild(filled.graph, graph->context(), *graph);
}

}  // namespace camshaft::cuda
