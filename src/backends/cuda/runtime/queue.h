// What kernels of this backend queue: on a stream, or, while its work is recorded, into the graph.
#pragma once

#include <string_view>

#include "backends/cuda/runtime/driver.h"

namespace camshaft::cuda {

// On the configuration's stream; `what` continues "could not".
void queueKernel(const CUlaunchConfig& config, CUkernel kernel, void** parameters,
                 std::string_view what);
void queueCopy(void* to, const void* from, size_t bytes, void* stream);
void queueClearing(void* memory, size_t bytes, void* stream);

}  // namespace camshaft::cuda
