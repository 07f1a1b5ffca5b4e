#pragma once

#include "backend/launch.h"

namespace camshaft::cpu::move {

bool fitsPad(const void* state, const LaunchArgs& args);
void launchPad(const void* state, const LaunchArgs& args);

}  // namespace camshaft::cpu::move
