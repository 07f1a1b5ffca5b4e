// Which backends there are.
#pragma once

#include <string_view>
#include <vector>

#include "backend/device.h"

namespace camshaft {

struct BuildBackend;

// Why nothing can run on a device ("cpu", "cuda") here; empty when it can.
std::string whyUnusable(std::string_view device);

// Those asked for kernels when building for a device ("cuda", "cpu", "reference"): its own, and
// after it those that take what it leaves; the last takes every operator.
std::vector<const BuildBackend*> buildBackends(std::string_view device);

}  // namespace camshaft
