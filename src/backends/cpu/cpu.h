// The CPU backend.
#pragma once

#include "backend/device.h"

namespace camshaft {
struct BuildBackend;
}

namespace camshaft::cpu {

const BuildBackend& buildBackend();      // kernels.cpp
const RuntimeBackend& runtimeBackend();  // launchers.cpp

}  // namespace camshaft::cpu
