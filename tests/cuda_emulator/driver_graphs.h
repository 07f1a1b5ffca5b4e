// Emulated driver functions about graphs: made of nodes one by one, or of what was captured.
#pragma once

#include <algorithm>

#include "cuda_emulator/driver_devices.h"
#include "cuda_emulator/driver_kernels.h"

namespace camshaft::emulator {

// The nodes of a graph in the order that respects what each waits for and is otherwise as far from
// the order of their making as can be: what was forgotten to be waited for shows.
inline std::vector<CUgraphNode> latestFirst(const Nodes& nodes) {
  std::vector<CUgraphNode> order;
  std::set<CUgraphNode> done;
  const auto isReady = [&](CUgraphNode node) {
    return done.count(node) == 0 &&
           std::all_of(node->after.begin(), node->after.end(),
                       [&](CUgraphNode before) { return done.count(before) > 0; });
  };
  while (order.size() < nodes.size()) {
    size_t index = nodes.size() - 1;
    while (!isReady(nodes[index].get())) --index;
    done.insert(nodes[index].get());
    order.push_back(nodes[index].get());
  }
  return order;
}

struct GraphFunctions : MemoryFunctions, KernelFunctions {
  static CUresult cuGraphCreate(CUgraph* graph, unsigned flags) {
    return callDriver("cuGraphCreate", "", [&](DriverState& state) {
      if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
      *graph = state.graphs.create();
      return CUDA_SUCCESS;
    });
  }
  static CUresult cuGraphAddNode(CUgraphNode* made, CUgraph graph, const CUgraphNode* after,
                                 const CUgraphEdgeData* edges, size_t count,
                                 CUgraphNodeParams* params) {
    return callInContext("cuGraphAddNode", typeText(params->type), [&](DriverState& state) {
      if (!state.graphs.has(graph)) return CUDA_ERROR_INVALID_HANDLE;
      auto node = std::make_shared<CUgraphNode_st>();
      node->after.assign(after, after + count);
      node->edges.resize(count);
      if (edges) node->edges.assign(edges, edges + count);
      if (const CUresult result = describe(*node, *params)) return result;
      if (!areEdgesPossible(*node, *graph)) return CUDA_ERROR_INVALID_VALUE;
      *made = node.get();
      graph->nodes.push_back(std::move(node));
      return CUDA_SUCCESS;
    });
  }
  static CUresult cuGraphGetNodes(CUgraph graph, CUgraphNode* nodes, size_t* count) {
    return callDriver("cuGraphGetNodes", "", [&](DriverState& state) {
      if (!state.graphs.has(graph)) return CUDA_ERROR_INVALID_HANDLE;
      for (size_t i = 0; nodes && i < std::min(*count, graph->nodes.size()); ++i)
        nodes[i] = graph->nodes[i].get();
      *count = graph->nodes.size();
      return CUDA_SUCCESS;
    });
  }
  static CUresult cuGraphGetEdges(CUgraph graph, CUgraphNode* from, CUgraphNode* to,
                                  CUgraphEdgeData* data, size_t* count) {
    return callDriver("cuGraphGetEdges", "", [&](DriverState& state) {
      if (!state.graphs.has(graph)) return CUDA_ERROR_INVALID_HANDLE;
      size_t found = 0;
      for (const auto& node : graph->nodes) {
        for (size_t i = 0; i < node->after.size(); ++i, ++found) {
          if (!from || found >= *count) continue;
          from[found] = node->after[i];
          to[found] = node.get();
          data[found] = node->edges[i];
        }
      }
      *count = found;
      return CUDA_SUCCESS;
    });
  }
  static CUresult cuGraphNodeGetType(CUgraphNode node, CUgraphNodeType* type) {
    return callDriver("cuGraphNodeGetType", "", [&](DriverState&) {
      *type = node->type;
      return CUDA_SUCCESS;
    });
  }

  static CUresult cuGraphInstantiateWithFlags(CUgraphExec* exec, CUgraph graph,
                                              unsigned long long) {
    return callInContext("cuGraphInstantiateWithFlags", "", [&](DriverState& state) {
      if (!state.graphs.has(graph)) return CUDA_ERROR_INVALID_HANDLE;
      *exec = state.graphExecs.create();
      (*exec)->nodes = graph->nodes;
      return CUDA_SUCCESS;
    });
  }
  static CUresult cuGraphLaunch(CUgraphExec exec, CUstream stream) {
    if (!activeDriver) return CUDA_ERROR_DEINITIALIZED;
    std::lock_guard lock(activeDriver->mutex);
    if (!activeDriver->graphExecs.has(exec)) return CUDA_ERROR_INVALID_HANDLE;
    const std::string details = std::to_string(exec->nodes.size()) + " nodes";
    return enqueue(stream, "cuGraphLaunch", details, [nodes = exec->nodes] {
      for (const CUgraphNode node : latestFirst(nodes)) {
        // Nothing here can run in a context while another one's stream is waiting for it.
        if (node->context != currentContext()) return CUDA_ERROR_INVALID_CONTEXT;
        activeDriver->calls.push_back({"graph: " + node->call.function, node->call.details});
        if (!node->run) continue;
        if (const CUresult result = node->run()) return result;
      }
      return CUDA_SUCCESS;
    });
  }
  static CUresult cuGraphDestroy(CUgraph graph) {
    return callDriver("cuGraphDestroy", "", [&](DriverState& state) {
      return state.graphs.destroy(graph) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
    });
  }
  static CUresult cuGraphExecDestroy(CUgraphExec exec) {
    return callDriver("cuGraphExecDestroy", "", [&](DriverState& state) {
      return state.graphExecs.destroy(exec) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
    });
  }

 private:
  static std::string typeText(CUgraphNodeType type) {
    return type == CU_GRAPH_NODE_TYPE_KERNEL   ? "kernel"
           : type == CU_GRAPH_NODE_TYPE_MEMCPY ? "copy"
           : type == CU_GRAPH_NODE_TYPE_MEMSET ? "filling"
                                               : "other";
  }

  static CUresult describe(CUgraphNode_st& node, const CUgraphNodeParams& params) {
    const auto contextOr = [](CUcontext given) { return given ? given : currentContext(); };
    node.type = params.type;
    switch (params.type) {
      case CU_GRAPH_NODE_TYPE_KERNEL:
        return describeKernel(node, params.kernel);
      case CU_GRAPH_NODE_TYPE_MEMCPY:
        node.context = contextOr(params.memcpy.copyCtx);
        node.copy = params.memcpy.copyParams;
        node.run = copying(node.copy);
        node.call = {"cuMemcpyAsync", bytesText(node.copy.WidthInBytes)};
        return node.copy.Height == 1 && node.copy.Depth == 1 ? CUDA_SUCCESS
                                                             : CUDA_ERROR_INVALID_VALUE;
      case CU_GRAPH_NODE_TYPE_MEMSET:
        node.context = contextOr(params.memset.ctx);
        node.filling = {.dst = params.memset.dst,
                        .value = params.memset.value,
                        .elementSize = params.memset.elementSize,
                        .width = params.memset.width,
                        .height = params.memset.height};
        node.run = filling(node.filling);
        node.call = {"cuMemsetD8Async", bytesText(node.filling.width * node.filling.elementSize)};
        return node.filling.height == 1 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
      case CU_GRAPH_NODE_TYPE_EMPTY:
        node.context = currentContext();
        return CUDA_SUCCESS;
      default:
        return CUDA_ERROR_NOT_SUPPORTED;
    }
  }

  // A function of a module runs in that module's context, whatever context is named.
  static CUresult describeKernel(CUgraphNode_st& node, const CUDA_KERNEL_NODE_PARAMS_v3& params) {
    const CUkern_st* kernel = params.func ? kernelOf(params.func) : params.kern;
    if (!kernel || params.extra) return CUDA_ERROR_INVALID_VALUE;
    const auto values = copyOf(*kernel, params.kernelParams);
    if (!values || params.sharedMemBytes > static_cast<unsigned>(kernel->maxDynamicShared))
      return CUDA_ERROR_INVALID_VALUE;
    node.context = kernel->onlyIn ? kernel->onlyIn : params.ctx ? params.ctx : currentContext();
    const CUDA_KERNEL_NODE_PARAMS shape = {.func = params.func,
                                           .gridDimX = params.gridDimX,
                                           .gridDimY = params.gridDimY,
                                           .gridDimZ = params.gridDimZ,
                                           .blockDimX = params.blockDimX,
                                           .blockDimY = params.blockDimY,
                                           .blockDimZ = params.blockDimZ,
                                           .sharedMemBytes = params.sharedMemBytes,
                                           .kern = params.kern,
                                           .ctx = node.context};
    fillNode(node, shape, *values);
    node.run = launching(kernel->function, shape, *values);
    const CUlaunchConfig config = {.gridDimX = shape.gridDimX,
                                   .gridDimY = shape.gridDimY,
                                   .gridDimZ = shape.gridDimZ,
                                   .blockDimX = shape.blockDimX,
                                   .blockDimY = shape.blockDimY,
                                   .blockDimZ = shape.blockDimZ,
                                   .sharedMemBytes = shape.sharedMemBytes};
    const bool isProgrammatic =
        std::any_of(node.edges.begin(), node.edges.end(), [](const CUgraphEdgeData& edge) {
          return edge.type == CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC;
        });
    node.call = {"cuLaunchKernelEx",
                 launchText(kernel->function, config) + (isProgrammatic ? " programmatic" : "")};
    return CUDA_SUCCESS;
  }

  // From nodes of the graph, none twice; such that let kernels overlap, only between kernels.
  static bool areEdgesPossible(const CUgraphNode_st& node, const CUgraph_st& graph) {
    for (size_t i = 0; i < node.after.size(); ++i) {
      const CUgraphNode before = node.after[i];
      const bool isKnown = std::any_of(graph.nodes.begin(), graph.nodes.end(),
                                       [&](const auto& known) { return known.get() == before; });
      if (!isKnown || std::count(node.after.begin(), node.after.end(), before) > 1) return false;
      const CUgraphEdgeData& edge = node.edges[i];
      const bool isPort = edge.from_port == CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC;
      if (isPort != (edge.type == CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC)) return false;
      if (isPort &&
          (before->type != CU_GRAPH_NODE_TYPE_KERNEL || node.type != CU_GRAPH_NODE_TYPE_KERNEL))
        return false;
    }
    return true;
  }
};

}  // namespace camshaft::emulator
