// What this backend found on the machine.
#pragma once

#include <vector>

#include "backend/findings.h"

namespace camshaft::cuda {

// The backend itself, the driver, each GPU (where the driver works), NVRTC, cuBLASLt and cuDNN,
// opened as builds open them.
std::vector<Finding> findings();
// The same without the vendor's libraries: for backends that compile in another way.
std::vector<Finding> findDevices();

}  // namespace camshaft::cuda
