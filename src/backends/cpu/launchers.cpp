#include "backends/cpu/cpu.h"
#include "backends/cpu/families.h"
#include "support/cpu_info.h"

namespace camshaft::cpu {
namespace {

const RuntimeKernel* find(std::string_view name) {
#define CAMSHAFT_FAMILY(family)                           \
  for (const RuntimeKernel& kernel : family::launchers()) \
    if (kernel.name == name) return &kernel;
  CAMSHAFT_CPU_FAMILIES(CAMSHAFT_FAMILY)
#undef CAMSHAFT_FAMILY
  return nullptr;
}

}  // namespace

const RuntimeBackend& runtimeBackend() {
  static constexpr RuntimeBackend kBackend{"cpu", find, describeCpu};
  return kBackend;
}

}  // namespace camshaft::cpu
