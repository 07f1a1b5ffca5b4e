#pragma once

#include "backend/launch.h"

namespace camshaft::cpu::region {

bool fitsDeformColumns(const void* state, const LaunchArgs& args);
void launchDeformColumns(const void* state, const LaunchArgs& args);  // launch_columns.cpp

}  // namespace camshaft::cpu::region
