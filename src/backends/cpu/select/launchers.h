#pragma once

#include "backend/launch.h"

namespace camshaft::cpu::select {

bool fitsNonZero(const void* state, const LaunchArgs& args);
void launchNonZero(const void* state, const LaunchArgs& args);
bool fitsNms(const void* state, const LaunchArgs& args);
void launchNms(const void* state, const LaunchArgs& args);  // launch_nms.cpp

}  // namespace camshaft::cpu::select
