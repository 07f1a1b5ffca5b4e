// Channels of a tensor between layers brought to like sizes, so that one scale serves them all.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "quantize/product.h"
#include "quantize/statistics.h"

namespace camshaft {

// For each tensor that products alone read and something can scale for nothing, channel i is
// divided by s_i where it is made and the weights that read it are multiplied by s_i: the function
// stays the same. Makers are
//   - a product, with per-channel weights, or one with Relu, LeakyRelu or PRelu behind it
//     (cross-layer equalisation, Nagel et al. 2019),
//   - a norm, by its scale and shift, in one node or as Mul and Add (SmoothQuant, Xiao et al.
//     2023).
// s_i = largest|x_i|^a / largest|w_i|^(1-a), where w_i are the weights that read channel i, and a
// is what leaves the least noise of rounding; a tensor that is best as it is stays so.
// Returns the tensors that changed; products are to be found anew.
std::vector<std::string> equalizeChannels(
    ModelEditor& editor, const std::vector<Product>& products,
    const std::map<std::string, TensorStatistics, std::less<>>& statistics);

}  // namespace camshaft
