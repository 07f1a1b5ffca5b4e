// Which backends there are.
#pragma once

#include <string_view>
#include <vector>

#include "backend/device.h"

namespace camshaft {

struct BuildBackend;

// Those asked for kernels when building for a device ("cpu", "reference"), first to last; the last
// takes every operator.
std::vector<const BuildBackend*> buildBackends(std::string_view device);

}  // namespace camshaft
