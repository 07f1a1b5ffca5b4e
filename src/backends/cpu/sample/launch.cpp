#include "backend/launch.h"
#include "backends/cpu/families.h"

namespace camshaft::cpu::sample {

std::span<const RuntimeKernel> launchers() { return {}; }

}  // namespace camshaft::cpu::sample
