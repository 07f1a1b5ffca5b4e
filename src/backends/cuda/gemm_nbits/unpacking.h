// Products on tensor cores that take constant weights in chunks, and unpack them in registers.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "backend/kernel.h"
#include "backends/cuda/gemm_nbits/tile_config.h"

namespace camshaft::cuda {

// A row for the list of products with weights of a few bits.
const Kernel& unpackingNBitsKernel();

// The rows of a product with one matrix of weights, whatever the rank of its first operand.
Dim rowsOfProduct(const Node& node);

// The kernel of a node that multiplies the rows of input 0 by weights in chunks. Its name begins
// with `what`.
Prepared prepareUnpacking(const std::string& what, const Node& node, const BuildContext& context,
                          const UnpackingProblem& problem, const UnpackingTile& tile,
                          std::function<std::vector<std::byte>()> pack);

}  // namespace camshaft::cuda
