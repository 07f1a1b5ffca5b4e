// The run-time kernels of this backend, found by name in library.cpp.
#pragma once

#include <span>

#include "backend/launch.h"

namespace camshaft::cuda {

// Whatever the engine holds the code of, unless it needs a launcher of its own.
const RuntimeKernel& generatedLauncher();
std::span<const RuntimeKernel* const> ownLaunchers();

}  // namespace camshaft::cuda
