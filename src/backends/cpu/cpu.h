// The CPU backend.
#pragma once

#include <vector>

#include "backend/device.h"

namespace camshaft {
struct BuildBackend;
struct Finding;
}  // namespace camshaft

namespace camshaft::cpu {

const BuildBackend& buildBackend();      // kernels.cpp
const RuntimeBackend& runtimeBackend();  // launchers.cpp
std::vector<Finding> findings();         // findings.cpp: the instructions that kernels use

}  // namespace camshaft::cpu
