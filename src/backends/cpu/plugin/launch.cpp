#include "backend/launch.h"
#include "backends/cpu/families.h"
#include "backends/cpu/plugin/params.h"

namespace camshaft::cpu::plugin {

std::span<const RuntimeKernel> launchers() {
  static constexpr RuntimeKernel kLaunchers[] = {{.name = kName, .isPlugin = true}};
  return kLaunchers;
}

}  // namespace camshaft::cpu::plugin
