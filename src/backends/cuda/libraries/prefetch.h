// cuDNN's plans of a whole network, built side by side.
#pragma once

#include <span>

#include "backend/kernel.h"

namespace camshaft::cuda {

// BuildBackend::prefetch: afterwards planOf() knows what the preparations will ask for.
void prefetchPlans(std::span<const Preparation> preparations, const BuildContext& context);

}  // namespace camshaft::cuda
