// Transposition of a matrix in memory.
#pragma once

#include <cstddef>
#include <cstdint>

namespace camshaft::cpu::move {

// to[c * toStride + r] = from[r * fromStride + c] for elements of `width` bytes; strides in
// elements.
void transposeBlock(const std::byte* from, int64_t fromStride, std::byte* to, int64_t toStride,
                    int64_t rows, int64_t columns, int64_t width);

}  // namespace camshaft::cpu::move
