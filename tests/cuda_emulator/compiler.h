// From CUDA C++ text to a shared object on disk.
#pragma once

#include <string>

namespace camshaft::emulator {

// The path of the shared object for `source`, compiled when the cache has none.
std::string compileToFile(const std::string& source);

}  // namespace camshaft::emulator
