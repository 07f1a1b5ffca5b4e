#include "backend/launch.h"
#include "backends/cpu/families.h"

namespace camshaft::cpu::index {

std::span<const RuntimeKernel> launchers() { return {}; }

}  // namespace camshaft::cpu::index
