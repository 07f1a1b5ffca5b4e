// Run half: kernels from and to bytes.
#pragma once

#include "backend/launch.h"

namespace camshaft::cpu::pointwise {

bool fitsTable(const void* state, const LaunchArgs& args);
void launchTable(const void* state, const LaunchArgs& args);

bool fitsBytes(const void* state, const LaunchArgs& args);
void launchBytes(const void* state, const LaunchArgs& args);

bool fitsDequantize(const void* state, const LaunchArgs& args);
void launchDequantize(const void* state, const LaunchArgs& args);

}  // namespace camshaft::cpu::pointwise
