// Resize of f32 by any rule, in any number of dimensions.
#pragma once

#include "backend/launch.h"

namespace camshaft::cpu::sample {

bool fitsResample(const void* state, const LaunchArgs& args);
void launchResample(const void* state, const LaunchArgs& args);

}  // namespace camshaft::cpu::sample
