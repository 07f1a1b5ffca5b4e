// Pages of mapped files, of which this process need not have all in memory.
#pragma once

#include <cstddef>
#include <span>

namespace camshaft {

// Whoever maps a file that nobody writes to through this mapping says so, and when it ends.
void noteMapped(std::span<const std::byte> bytes);
void forgetMapped(std::span<const std::byte> bytes);

// Whoever has looked at bytes of a mapped file, or made something else of them, need not keep them
// in memory: they are read again where somebody asks for them. Bytes of other memory stay.
void letGoOfMapped(std::span<const std::byte> bytes);

}  // namespace camshaft
