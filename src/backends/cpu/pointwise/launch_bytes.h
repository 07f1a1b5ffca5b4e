// Run half: kernels whose results are bytes.
#pragma once

#include "backend/launch.h"

namespace camshaft::cpu::pointwise {

bool fitsTable(const void* state, const LaunchArgs& args);
void launchTable(const void* state, const LaunchArgs& args);

bool fitsBytes(const void* state, const LaunchArgs& args);
void launchBytes(const void* state, const LaunchArgs& args);

}  // namespace camshaft::cpu::pointwise
