#include "backends/backends.h"
#include "backends/cpu/cpu.h"
#include "backends/cuda/cuda.h"
#include "backends/reference/reference.h"

namespace camshaft {

std::vector<const BuildBackend*> buildBackends(std::string_view device) {
  if (device == "reference") return {&reference::buildBackend()};
  if (device == "cuda")
    return {&cuda::buildBackend(), &cpu::buildBackend(), &reference::buildBackend()};
  return {&cpu::buildBackend(), &reference::buildBackend()};
}

}  // namespace camshaft
