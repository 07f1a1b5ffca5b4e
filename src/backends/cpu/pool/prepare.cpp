#include "backend/kernel.h"
#include "backends/cpu/families.h"

namespace camshaft::cpu::pool {

std::span<const Kernel> kernels() { return {}; }

}  // namespace camshaft::cpu::pool
