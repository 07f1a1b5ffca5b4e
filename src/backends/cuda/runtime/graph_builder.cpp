#include "backends/cuda/runtime/graph_builder.h"

#include <algorithm>

namespace camshaft::cuda {
namespace {

thread_local GraphBuilder* recording = nullptr;
thread_local const void* recordedStream = nullptr;

class GraphRecording : public Recording {
 public:
  explicit GraphRecording(CUgraph graph) {
    check(driver().cuGraphInstantiateWithFlags(&executable_, graph, 0), "instantiate a CUDA graph");
  }
  ~GraphRecording() override { driver().cuGraphExecDestroy(executable_); }
  GraphRecording(const GraphRecording&) = delete;
  GraphRecording& operator=(const GraphRecording&) = delete;
  void replay(void* stream) override {
    check(driver().cuGraphLaunch(executable_, static_cast<CUstream>(stream)),
          "launch a CUDA graph");
  }

 private:
  CUgraphExec executable_ = nullptr;
};

// Memory that CUDA knows has one address for host and device; other memory is the host's.
bool isKnown(const void* memory) {
  CUmemorytype type{};
  return driver().cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                        reinterpret_cast<CUdeviceptr>(memory)) == CUDA_SUCCESS;
}

}  // namespace

GraphBuilder::GraphBuilder() {
  check(driver().cuCtxGetCurrent(&context_), "ask for the current CUDA context");
  check(driver().cuGraphCreate(&graph_, 0), "make a CUDA graph");
}

GraphBuilder::~GraphBuilder() { driver().cuGraphDestroy(graph_); }

GraphBuilder* GraphBuilder::of(const void* stream) {
  return recording && stream == recordedStream ? recording : nullptr;
}

GraphBuilder::Recording::Recording(GraphBuilder& builder, void* stream)
    : before_(recording), streamBefore_(recordedStream) {
  recording = &builder;
  recordedStream = stream;
}

GraphBuilder::Recording::~Recording() {
  recording = before_;
  recordedStream = streamBefore_;
}

void GraphBuilder::Edges::add(CUgraphNode node, const CUgraphEdgeData& edge) {
  if (std::find(after.begin(), after.end(), node) != after.end()) return;
  after.push_back(node);
  data.push_back(edge);
}

GraphBuilder::Edges GraphBuilder::edgesFromPoint(bool mayOverlap) const {
  CUgraphEdgeData edge = {};
  if (mayOverlap && point_.canOverlap()) {
    edge.from_port = CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC;
    edge.type = CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC;
  }
  Edges edges;
  for (const auto& [node, isKernel] : point_.nodes()) edges.add(node, edge);
  return edges;
}

CUgraphNode GraphBuilder::addNode(CUgraphNodeParams& params, std::span<const CUgraphNode> after,
                                  std::span<const CUgraphEdgeData> edges, std::string_view what) {
  CUgraphNode node = nullptr;
  check(driver().cuGraphAddNode(&node, graph_, after.data(), edges.data(), after.size(), &params),
        what);
  return node;
}

CUgraphNode GraphBuilder::follow(CUgraphNodeParams& params, bool mayOverlap,
                                 std::string_view what) {
  const Edges edges = edgesFromPoint(mayOverlap);
  const CUgraphNode node = addNode(params, edges.after, edges.data, what);
  point_ = {};
  point_.add(node, params.type == CU_GRAPH_NODE_TYPE_KERNEL);
  return node;
}

void GraphBuilder::addKernel(const CUlaunchConfig& config, CUkernel kernel, void** parameters,
                             std::string_view what) {
  CUgraphNodeParams params = {};
  params.type = CU_GRAPH_NODE_TYPE_KERNEL;
  params.kernel = {.gridDimX = config.gridDimX,
                   .gridDimY = config.gridDimY,
                   .gridDimZ = config.gridDimZ,
                   .blockDimX = config.blockDimX,
                   .blockDimY = config.blockDimY,
                   .blockDimZ = config.blockDimZ,
                   .sharedMemBytes = config.sharedMemBytes,
                   .kernelParams = parameters,
                   .kern = kernel,
                   .ctx = context_};
  const std::span attributes(config.attrs, config.numAttrs);
  // What a stream takes as an attribute of the launch is one of the edge in a graph.
  const bool mayOverlap =
      std::any_of(attributes.begin(), attributes.end(), [](const CUlaunchAttribute& attribute) {
        return attribute.id == CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION &&
               attribute.value.programmaticStreamSerializationAllowed;
      });
  const CUgraphNode node = follow(params, mayOverlap, what);
  for (const CUlaunchAttribute& attribute : attributes) {
    if (attribute.id == CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION) continue;
    check(driver().cuGraphKernelNodeSetAttribute(node, attribute.id, &attribute.value), what);
  }
}

// In pieces: rows of a copy are limited in size.
void GraphBuilder::addCopy(void* to, const void* from, size_t bytes) {
  constexpr size_t kMost = size_t{1} << 30;
  const bool isFromKnown = isKnown(from), isToKnown = isKnown(to);
  for (size_t done = 0; done < bytes; done += kMost) {
    const size_t width = std::min(kMost, bytes - done);
    const std::byte* source = static_cast<const std::byte*>(from) + done;
    std::byte* target = static_cast<std::byte*>(to) + done;
    CUgraphNodeParams params = {};
    params.type = CU_GRAPH_NODE_TYPE_MEMCPY;
    params.memcpy.copyCtx = context_;
    CUDA_MEMCPY3D& copy = params.memcpy.copyParams;
    copy.srcMemoryType = isFromKnown ? CU_MEMORYTYPE_UNIFIED : CU_MEMORYTYPE_HOST;
    copy.dstMemoryType = isToKnown ? CU_MEMORYTYPE_UNIFIED : CU_MEMORYTYPE_HOST;
    if (isFromKnown)
      copy.srcDevice = reinterpret_cast<CUdeviceptr>(source);
    else
      copy.srcHost = source;
    if (isToKnown)
      copy.dstDevice = reinterpret_cast<CUdeviceptr>(target);
    else
      copy.dstHost = target;
    copy.srcPitch = copy.dstPitch = copy.WidthInBytes = width;
    copy.Height = copy.Depth = 1;
    follow(params, false, "record a copy between host and GPU");
  }
}

void GraphBuilder::addClearing(void* memory, size_t bytes) {
  const auto address = reinterpret_cast<CUdeviceptr>(memory);
  const unsigned element = bytes % 4 == 0 && address % 4 == 0 ? 4 : 1;
  CUgraphNodeParams params = {};
  params.type = CU_GRAPH_NODE_TYPE_MEMSET;
  params.memset = {.dst = address,
                   .elementSize = element,
                   .width = bytes / element,
                   .height = 1,
                   .ctx = context_};
  follow(params, false, "record the clearing of a workspace");
}

std::unique_ptr<camshaft::Recording> GraphBuilder::finish() const {
  return std::make_unique<GraphRecording>(graph_);
}

}  // namespace camshaft::cuda
