// Weights with rows and columns exchanged.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace camshaft::cuda {

// [rows, columns] of elements of 1, 2 or 4 bytes as [columns, rows], by all cores: a language model
// has billions of them.
std::vector<std::byte> transposed(const void* data, int64_t rows, int64_t columns, int bytes);

}  // namespace camshaft::cuda
