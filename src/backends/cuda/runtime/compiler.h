// CUDA C++ text to device code, with NVRTC.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "backend/compiled_code.h"
#include "backend/target.h"

namespace camshaft::cuda {

// Machine code for the target's compute capability (90 compiles for sm_90a, with its own
// instructions), or PTX, which later GPUs take too, where the target is portable; in parallel.
// Throws Error when NVRTC is not here; a source that does not compile has its message.
std::vector<CompiledCode> compileAll(std::span<const std::string> sources,
                                     const BuildTarget& target);

}  // namespace camshaft::cuda
