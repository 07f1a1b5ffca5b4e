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

inline constexpr const char* kNvrtcNames[] = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"};

// The compiler that is used, opened if it was not yet; both throw where it is not here.
std::string nvrtcVersion();  // "13.0"
std::string nvrtcPath();

}  // namespace camshaft::cuda
