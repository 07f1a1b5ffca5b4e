// The reference backend: every operator through its own evaluate(). Slow, right, and complete: the
// oracle for tests, what runs when a device has no kernel, and the skeleton of a new backend.
#pragma once

#include "backend/device.h"
#include "backend/kernel.h"

namespace camshaft::reference {

const BuildBackend& buildBackend();      // prepare.cpp
const RuntimeBackend& runtimeBackend();  // launch.cpp

}  // namespace camshaft::reference
