// Run half: convolutions, as products of patches and filters, depthwise, or of groups of few
// channels.
#pragma once

#include "backend/launch.h"

namespace camshaft::cpu::gemm_int8 {

bool fitsConv(const void* state, const LaunchArgs& args);
void launchConv(const void* state, const LaunchArgs& args);

bool fitsDepthwise(const void* state, const LaunchArgs& args);
void launchDepthwise(const void* state, const LaunchArgs& args);

bool fitsGroups(const void* state, const LaunchArgs& args);
void launchGroups(const void* state, const LaunchArgs& args);

}  // namespace camshaft::cpu::gemm_int8
