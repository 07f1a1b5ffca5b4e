// CUDA C++ text to device code, with NVRTC.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "backend/compiled_code.h"

namespace camshaft::cuda {

// For compute capability `sm` (90 compiles for sm_90a, with its own instructions), in parallel.
// Throws Error when NVRTC is not here; a source that does not compile has its message.
std::vector<CompiledCode> compileAll(std::span<const std::string> sources, int sm);

}  // namespace camshaft::cuda
