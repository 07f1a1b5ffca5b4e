#pragma once

#include "backend/launch.h"

namespace camshaft::cpu::index {

bool fitsScatterElements(const void* state, const LaunchArgs& args);
void launchScatterElements(const void* state, const LaunchArgs& args);  // launch_scatter.cpp
bool fitsScatterND(const void* state, const LaunchArgs& args);
void launchScatterND(const void* state, const LaunchArgs& args);
bool fitsOneHot(const void* state, const LaunchArgs& args);
void launchOneHot(const void* state, const LaunchArgs& args);  // launch_one_hot.cpp
bool fitsTopK(const void* state, const LaunchArgs& args);
void launchTopK(const void* state, const LaunchArgs& args);  // launch_top_k.cpp

}  // namespace camshaft::cpu::index
