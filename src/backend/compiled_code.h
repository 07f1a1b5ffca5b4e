// What became of a kernel's source.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace camshaft {

struct CompiledCode {
  std::vector<std::byte> binary;
  std::string error;  // the compiler's message; empty: it compiled
};

}  // namespace camshaft
