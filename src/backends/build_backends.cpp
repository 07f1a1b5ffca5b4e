#include <algorithm>

#include "backends/backends.h"
#include "backends/cpu/cpu.h"
#include "backends/cuda/cuda.h"
#include "backends/reference/reference.h"
#include "support/error.h"

namespace camshaft {

std::vector<const BuildBackend*> buildBackends(std::string_view device) {
  const BuildBackend* const all[] = {&cuda::buildBackend(), &cpu::buildBackend(),
                                     &reference::buildBackend()};
  const auto* first = std::ranges::find(all, device, &BuildBackend::name);
  if (first == std::end(all))
    fail(ErrorKind::kInvalidArgument, "there is no device '", device, "' to build for");
  return {first, std::end(all)};
}

}  // namespace camshaft
