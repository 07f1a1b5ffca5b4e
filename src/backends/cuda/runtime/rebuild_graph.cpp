#include "backends/cuda/runtime/rebuild_graph.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <set>

#include "support/error.h"

namespace camshaft::cuda {
namespace {

struct Edge {
  CUgraphNode from, to;
  CUgraphEdgeData data;
};

std::vector<CUgraphNode> nodesOf(CUgraph graph) {
  size_t count = 0;
  check(driver().cuGraphGetNodes(graph, nullptr, &count), "read a recorded graph");
  std::vector<CUgraphNode> nodes(count);
  if (count > 0)
    check(driver().cuGraphGetNodes(graph, nodes.data(), &count), "read a recorded graph");
  return nodes;
}

// Asked for with room for all that there can be: a mere count is refused where edges carry data.
std::vector<Edge> edgesOf(CUgraph graph, size_t nodes) {
  size_t count = nodes * (nodes - 1) / 2;
  if (nodes < 2) return {};
  std::vector<CUgraphNode> from(count), to(count);
  std::vector<CUgraphEdgeData> data(count);
  check(driver().cuGraphGetEdges(graph, from.data(), to.data(), data.data(), &count),
        "read a recorded graph");
  std::vector<Edge> edges;
  for (size_t i = 0; i < count; ++i) edges.push_back({from[i], to[i], data[i]});
  return edges;
}

CUgraphNodeType typeOf(CUgraphNode node) {
  CUgraphNodeType type{};
  check(driver().cuGraphNodeGetType(node, &type), "read a recorded graph");
  return type;
}

CUDA_KERNEL_NODE_PARAMS kernelOf(CUgraphNode node) {
  CUDA_KERNEL_NODE_PARAMS params = {};
  check(driver().cuGraphKernelNodeGetParams(node, &params), "read a recorded kernel");
  return params;
}

CUDA_MEMSET_NODE_PARAMS memsetOf(CUgraphNode node) {
  CUDA_MEMSET_NODE_PARAMS params = {};
  check(driver().cuGraphMemsetNodeGetParams(node, &params), "read a recorded memset");
  return params;
}

CUDA_MEMCPY3D memcpyOf(CUgraphNode node) {
  CUDA_MEMCPY3D params = {};
  check(driver().cuGraphMemcpyNodeGetParams(node, &params), "read a recorded copy");
  return params;
}

bool isMemoryOf(CUcontext context, uint64_t address) {
  CUcontext owner = nullptr;
  return driver().cuPointerGetAttribute(&owner, CU_POINTER_ATTRIBUTE_CONTEXT, address) ==
             CUDA_SUCCESS &&
         owner == context;
}

bool pointsIntoMemoryOf(CUcontext context, const void* bytes, size_t size) {
  for (size_t at = 0; at + sizeof(uint64_t) <= size; at += sizeof(uint64_t)) {
    uint64_t word = 0;
    std::memcpy(&word, static_cast<const std::byte*>(bytes) + at, sizeof word);
    if (word != 0 && isMemoryOf(context, word)) return true;
  }
  return false;
}

// The arguments as one piece of memory, where they were given so.
std::span<const std::byte> packedArguments(void** extra) {
  const void* bytes = nullptr;
  size_t size = 0;
  for (; extra && *extra != CU_LAUNCH_PARAM_END; extra += 2) {
    if (*extra == CU_LAUNCH_PARAM_BUFFER_POINTER) bytes = extra[1];
    if (*extra == CU_LAUNCH_PARAM_BUFFER_SIZE) size = *static_cast<const size_t*>(extra[1]);
  }
  return {static_cast<const std::byte*>(bytes), bytes ? size : 0};
}

// Whether some number among the arguments is an address of the context's own memory, which a
// kernel of another context cannot reach.
bool takesMemoryOf(CUcontext context, const CUDA_KERNEL_NODE_PARAMS& kernel) {
  const std::span<const std::byte> packed = packedArguments(kernel.extra);
  if (pointsIntoMemoryOf(context, packed.data(), packed.size())) return true;
  size_t offset = 0, size = 0;
  for (size_t i = 0; kernel.kernelParams &&
                     driver().cuKernelGetParamInfo(kernel.kern, i, &offset, &size) == CUDA_SUCCESS;
       ++i)
    if (pointsIntoMemoryOf(context, kernel.kernelParams[i], size)) return true;
  return false;
}

std::optional<std::string> whyNotKernel(CUgraphNode node, CUcontext from, bool isForeign) {
  if (!isForeign) return std::nullopt;
  const CUDA_KERNEL_NODE_PARAMS kernel = kernelOf(node);
  if (!kernel.kern) return "launches a kernel of a module, which belongs to one context";
  if (takesMemoryOf(from, kernel)) return "uses memory of its own";
  return std::nullopt;
}

std::optional<std::string> whyNotCopy(CUgraphNode node, CUcontext from, bool isForeign) {
  const CUDA_MEMCPY3D copy = memcpyOf(node);
  for (const CUmemorytype type : {copy.srcMemoryType, copy.dstMemoryType})
    if (type != CU_MEMORYTYPE_DEVICE && type != CU_MEMORYTYPE_UNIFIED)
      return "copies memory of the host";  // which may be gone when the graph runs
  if (isForeign && (isMemoryOf(from, copy.srcDevice) || isMemoryOf(from, copy.dstDevice)))
    return "uses memory of its own";
  return std::nullopt;
}

std::optional<std::string> whyNot(CUgraphNode node, CUcontext from, bool isForeign) {
  switch (typeOf(node)) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
      return whyNotKernel(node, from, isForeign);
    case CU_GRAPH_NODE_TYPE_MEMCPY:
      return whyNotCopy(node, from, isForeign);
    case CU_GRAPH_NODE_TYPE_MEMSET:
      if (isForeign && isMemoryOf(from, memsetOf(node).dst)) return "uses memory of its own";
      return std::nullopt;
    case CU_GRAPH_NODE_TYPE_EMPTY:
      return std::nullopt;
    case CU_GRAPH_NODE_TYPE_HOST:
      return "calls a function of the host";
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
    case CU_GRAPH_NODE_TYPE_MEM_FREE:
      return "allocates memory";
    default:
      return str("does something other than kernels and copies (node type ",
                 static_cast<int>(typeOf(node)), ")");
  }
}

// What a library allowed its kernel in the context it recorded in, it may not have allowed it here.
// Only ever more: another launch may count on what it was given.
void allow(CUfunction function, CUfunction_attribute attribute, int value) {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  int now = 0;
  if (driver().cuFuncGetAttribute(&now, attribute, function) == CUDA_SUCCESS && now >= value)
    return;
  check(driver().cuFuncSetAttribute(function, attribute, value), "prepare a recorded kernel");
}

constexpr CUlaunchAttributeID kNodeAttributes[] = {
    CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW,
    CU_LAUNCH_ATTRIBUTE_COOPERATIVE,
    CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
    CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE,
    CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP,
    CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN,
    CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION,
    CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT};

CUlaunchAttributeValue attributeOf(CUgraphNode node, CUlaunchAttributeID which) {
  CUlaunchAttributeValue value;
  std::memset(&value, 0, sizeof value);
  driver().cuGraphKernelNodeGetAttribute(node, which, &value);
  return value;
}

// The driver's own function for this copies only within one context.
void copyAttributes(CUgraphNode from, CUgraphNode to) {
  for (const CUlaunchAttributeID which : kNodeAttributes) {
    const CUlaunchAttributeValue wanted = attributeOf(from, which), made = attributeOf(to, which);
    // Unequal where padding differs alone: then it is set for nothing.
    // NOLINTNEXTLINE(bugprone-suspicious-memory-comparison)
    if (std::memcmp(&wanted, &made, sizeof wanted) != 0)
      check(driver().cuGraphKernelNodeSetAttribute(to, which, &wanted),
            str("give a recorded kernel its attribute ", static_cast<int>(which)));
  }
}

// A cluster of more than eight blocks has to be allowed.
void allowCluster(CUfunction function, CUgraphNode node) {
  constexpr unsigned kPortableCluster = 8;
  const auto cluster = attributeOf(node, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION).clusterDim;
  if (cluster.x * cluster.y * cluster.z > kPortableCluster)
    allow(function, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1);
}

CUgraphNode rebuildKernel(CUgraphNode node, GraphBuilder& graph, const GraphBuilder::Edges& edges) {
  const CUDA_KERNEL_NODE_PARAMS old = kernelOf(node);
  CUgraphNodeParams params = {};
  params.type = CU_GRAPH_NODE_TYPE_KERNEL;
  params.kernel = {.func = old.kern ? nullptr : old.func,
                   .gridDimX = old.gridDimX,
                   .gridDimY = old.gridDimY,
                   .gridDimZ = old.gridDimZ,
                   .blockDimX = old.blockDimX,
                   .blockDimY = old.blockDimY,
                   .blockDimZ = old.blockDimZ,
                   .sharedMemBytes = old.sharedMemBytes,
                   .kernelParams = old.kernelParams,
                   .extra = old.extra,
                   .kern = old.kern,
                   .ctx = graph.context()};
  if (old.kern) {
    CUfunction function = nullptr;
    check(driver().cuKernelGetFunction(&function, old.kern), "load a recorded kernel");
    allow(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
          static_cast<int>(old.sharedMemBytes));
    allowCluster(function, node);
  }
  const CUgraphNode made =
      graph.addNode(params, edges.after, edges.data, "add a recorded kernel to a CUDA graph");
  copyAttributes(node, made);
  return made;
}

CUgraphNode rebuildNode(CUgraphNode node, GraphBuilder& graph, const GraphBuilder::Edges& edges) {
  CUgraphNodeParams params = {};
  params.type = typeOf(node);
  if (params.type == CU_GRAPH_NODE_TYPE_KERNEL) return rebuildKernel(node, graph, edges);
  if (params.type == CU_GRAPH_NODE_TYPE_MEMSET) {
    const CUDA_MEMSET_NODE_PARAMS old = memsetOf(node);
    params.memset = {.dst = old.dst,
                     .pitch = old.pitch,
                     .value = old.value,
                     .elementSize = old.elementSize,
                     .width = old.width,
                     .height = old.height,
                     .ctx = graph.context()};
  } else if (params.type == CU_GRAPH_NODE_TYPE_MEMCPY) {
    params.memcpy.copyCtx = graph.context();
    params.memcpy.copyParams = memcpyOf(node);
  }
  return graph.addNode(params, edges.after, edges.data, "add recorded work to a CUDA graph");
}

}  // namespace

std::optional<std::string> rebuild(CUgraph recorded, CUcontext from, GraphBuilder& graph) {
  std::vector<CUgraphNode> left = nodesOf(recorded);
  const bool isForeign = from != graph.context();
  for (CUgraphNode node : left)
    if (auto reason = whyNot(node, from, isForeign)) return reason;

  const std::vector<Edge> edges = edgesOf(recorded, left.size());
  std::map<CUgraphNode, CUgraphNode> made;
  const auto isReady = [&](CUgraphNode node) {
    return std::all_of(edges.begin(), edges.end(), [&](const Edge& edge) {
      return edge.to != node || made.count(edge.from) > 0;
    });
  };
  while (!left.empty()) {
    const auto next = std::find_if(left.begin(), left.end(), isReady);
    CAMSHAFT_CHECK(next != left.end(), "a recorded graph goes in circles");
    GraphBuilder::Edges in;
    for (const Edge& edge : edges)
      if (edge.to == *next) in.add(made.at(edge.from), edge.data);
    if (in.after.empty()) in = graph.edgesFromPoint(false);
    made[*next] = rebuildNode(*next, graph, in);
    left.erase(next);
  }

  GraphPoint ends;
  for (const auto& [old, node] : made)
    if (std::none_of(edges.begin(), edges.end(),
                     [from = old](const Edge& edge) { return edge.from == from; }))
      ends.add(node, typeOf(old) == CU_GRAPH_NODE_TYPE_KERNEL);
  if (!made.empty()) graph.continueFrom(std::move(ends));
  return std::nullopt;
}

}  // namespace camshaft::cuda
