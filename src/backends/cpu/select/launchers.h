#pragma once

#include "backend/launch.h"

namespace camshaft::cpu::select {

bool fitsNonZero(const void* state, const LaunchArgs& args);
void launchNonZero(const void* state, const LaunchArgs& args);
bool fitsSuppress(const void* state, const LaunchArgs& args);
void launchSuppress(const void* state, const LaunchArgs& args);  // launch_suppress.cpp

}  // namespace camshaft::cpu::select
