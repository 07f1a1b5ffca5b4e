#pragma once

#include "backend/launch.h"

namespace camshaft::cpu::move {

void launchPad(const void* state, const LaunchArgs& args);

}  // namespace camshaft::cpu::move
