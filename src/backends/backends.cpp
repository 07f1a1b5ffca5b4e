// The backends, in order of preference. A new one is a line in each half.
#include "backends/backends.h"

#include "backends/cpu/cpu.h"
#include "backends/reference/reference.h"

namespace camshaft {

std::span<const RuntimeBackend* const> runtimeBackends() {
  static const RuntimeBackend* const kBackends[] = {&cpu::runtimeBackend(),
                                                    &reference::runtimeBackend()};
  return kBackends;
}

const RuntimeKernel* findRuntimeKernel(std::string_view kernel) {
  const std::string_view prefix = kernel.substr(0, kernel.find('/'));
  for (const RuntimeBackend* backend : runtimeBackends())
    if (backend->name == prefix) return backend->find(kernel);
  return nullptr;
}

}  // namespace camshaft
