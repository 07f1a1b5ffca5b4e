// Matrix products on Hopper's tensor cores, generated with whatever rides on them.
#pragma once

#include <functional>
#include <vector>

#include "backend/kernel.h"
#include "backends/cuda/gemm/hopper/product.h"

namespace camshaft::cuda {

// How many configurations are timed, unless a build asks for more effort. Of ResNet-50's layers at
// batch 32 the fastest of eight is faster than the fastest of the first five by 0.05 %.
inline constexpr size_t kUsualHopperConfigs = 5;

// A row for the list of matrix products.
const Kernel& hopperGemmKernel();

// The same for a MatMul or MatMulInteger node whose product is given, with A in windows of images
// maybe: then input 0 of the step is those.
Verdict supportsHopper(const Node& node, const HopperProduct& product, const BuildContext& context);
std::vector<int64_t> hopperConfigurations(const Node& node, const HopperProduct& product,
                                          const BuildContext& context);
Prepared prepareHopper(const Node& node, const HopperProduct& product, const BuildContext& context,
                       int64_t config);

}  // namespace camshaft::cuda
