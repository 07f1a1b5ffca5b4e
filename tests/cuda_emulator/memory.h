// What the launcher needs to know about device memory.
#pragma once

#include <string>

namespace camshaft::emulator {

// Where an address lies relative to the nearest allocation, in words.
std::string describeAddress(const void* address);

}  // namespace camshaft::emulator
