#pragma once

#include "backend/launch.h"

namespace camshaft::cpu::index {

void launchScatterElements(const void* state, const LaunchArgs& args);  // launch_scatter.cpp
void launchScatterND(const void* state, const LaunchArgs& args);
void launchOneHot(const void* state, const LaunchArgs& args);  // launch_select.cpp
void launchTopK(const void* state, const LaunchArgs& args);

}  // namespace camshaft::cpu::index
