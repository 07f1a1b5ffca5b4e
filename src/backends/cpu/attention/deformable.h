// The run half of deformable attention; it has no parameters.
#pragma once

#include "backend/launch.h"

namespace camshaft::cpu::attention {

inline constexpr char kDeformable[] = "cpu/deformable_attention_f32";

bool fitsDeformable(const void*, const LaunchArgs& args);
void launchDeformable(const void*, const LaunchArgs& args);

}  // namespace camshaft::cpu::attention
