// The backends, in order of preference. A new one is a line in each half.
#include "backends/backends.h"

#include "backend/findings.h"
#include "backends/cpu/cpu.h"
#include "backends/cuda/load_library.h"
#include "backends/reference/reference.h"
#include "support/code_file.h"
#include "support/error.h"

namespace camshaft {

std::span<const RuntimeBackend* const> runtimeBackends() {
  static const RuntimeBackend* const kBackends[] = {&cpu::runtimeBackend(),
                                                    &reference::runtimeBackend()};
  return kBackends;
}

const RuntimeBackend* findRuntimeBackend(std::string_view name) {
  const std::string_view prefix = name.substr(0, name.find('/'));
  for (const RuntimeBackend* backend : runtimeBackends())
    if (backend->name == prefix) return backend;
  const cuda::CudaLibrary* library = prefix == kGpu ? cuda::loadedLibrary() : nullptr;
  return library ? library->backend : nullptr;
}

std::string whyBackendIsMissing(std::string_view name) {
  return name == kGpu ? cuda::whyNotLoaded() : str("there is no backend '", name, "'");
}

const RuntimeKernel* findRuntimeKernel(std::string_view kernel) {
  const RuntimeBackend* backend = findRuntimeBackend(kernel);
  return backend ? backend->find(kernel) : nullptr;
}

std::vector<Finding> findings(std::string_view backend) {
  if (backend == "cpu") return cpu::findings();
  if (const cuda::CudaLibrary* library = cuda::loadedLibrary()) return library->findings();
  const char* const file[] = {cuda::kLibraryFile};
  return {{"CUDA backend", {}, fileOfLoaded(file), cuda::whyNotLoaded()}};
}

std::string whyUnusable(std::string_view device) {
  const RuntimeBackend* backend = findRuntimeBackend(device);
  if (!backend) return whyBackendIsMissing(device);
  try {
    if (backend->device) backend->device();
    return {};
  } catch (const Error& error) {
    return error.message();
  }
}

}  // namespace camshaft
