// The backends of camshaft-trials: the CUDA one alone, whose kernels are worth a process.
#include "backend/device.h"
#include "backends/cuda/load_library.h"

namespace camshaft {

std::span<const RuntimeBackend* const> runtimeBackends() { return {}; }

const RuntimeBackend* findRuntimeBackend(std::string_view name) {
  const bool isCuda = name.substr(0, name.find('/')) == kGpu;
  const cuda::CudaLibrary* library = isCuda ? cuda::loadedLibrary() : nullptr;
  return library ? library->backend : nullptr;
}

std::string whyBackendIsMissing(std::string_view) { return cuda::whyNotLoaded(); }

const RuntimeKernel* findRuntimeKernel(std::string_view kernel) {
  const RuntimeBackend* backend = findRuntimeBackend(kernel);
  return backend ? backend->find(kernel) : nullptr;
}

}  // namespace camshaft
