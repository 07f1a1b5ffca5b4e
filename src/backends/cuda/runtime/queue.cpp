#include "backends/cuda/runtime/queue.h"

#include "backends/cuda/runtime/graph_builder.h"

namespace camshaft::cuda {

void queueKernel(const CUlaunchConfig& config, CUkernel kernel, void** parameters,
                 std::string_view what) {
  if (GraphBuilder* graph = GraphBuilder::of(config.hStream))
    return graph->addKernel(config, kernel, parameters, what);
  check(
      driver().cuLaunchKernelEx(&config, reinterpret_cast<CUfunction>(kernel), parameters, nullptr),
      what);
}

void queueCopy(void* to, const void* from, size_t bytes, void* stream) {
  if (GraphBuilder* graph = GraphBuilder::of(stream)) return graph->addCopy(to, from, bytes);
  check(
      driver().cuMemcpyAsync(reinterpret_cast<CUdeviceptr>(to), reinterpret_cast<CUdeviceptr>(from),
                             bytes, static_cast<CUstream>(stream)),
      "copy between host and GPU");
}

void queueClearing(void* memory, size_t bytes, void* stream) {
  if (GraphBuilder* graph = GraphBuilder::of(stream)) return graph->addClearing(memory, bytes);
  check(driver().cuMemsetD8Async(reinterpret_cast<CUdeviceptr>(memory), 0, bytes,
                                 static_cast<CUstream>(stream)),
        "clear a workspace");
}

}  // namespace camshaft::cuda
