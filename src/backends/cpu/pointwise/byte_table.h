// Whatever is computed from one byte, as a table of its 256 results.
#pragma once

#include <cstdint>

namespace camshaft::cpu::pointwise {

// to[i] = table[from[i]] for so many rows, `stride` bytes apart; may be done in place.
void lookUp(const uint8_t* table, const uint8_t* from, uint8_t* to, int64_t rows, int64_t columns,
            int64_t stride);

}  // namespace camshaft::cpu::pointwise
