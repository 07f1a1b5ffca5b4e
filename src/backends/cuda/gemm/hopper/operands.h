// What the Hopper kernel reads of a node.
#pragma once

#include <vector>

#include "backend/kernel.h"
#include "backends/cuda/gemm/hopper/product.h"

namespace camshaft::cuda {

// A, B and what epilogue() reads (GemmParams::extra), in order.
std::vector<StepInput> hopperInputs(const Node& node, const HopperProduct& product);

}  // namespace camshaft::cuda
