#include "backend/launch.h"
#include "backends/cpu/families.h"

namespace camshaft::cpu::norm {

std::span<const RuntimeKernel> launchers() { return {}; }

}  // namespace camshaft::cpu::norm
