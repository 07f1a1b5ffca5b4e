#include "backend/kernel.h"
#include "backends/cpu/families.h"

namespace camshaft::cpu::sample {

std::span<const Kernel> kernels() { return {}; }

}  // namespace camshaft::cpu::sample
