// The run half of the Hopper matrix product (gemm/wgmma.h).
#pragma once

#include "backend/launch.h"

namespace camshaft::cuda {

const RuntimeKernel& hopperLauncher();

}  // namespace camshaft::cuda
