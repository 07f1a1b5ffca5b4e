#pragma once

#include <cstdint>
#include <string>

namespace camshaft {

// What kernels are built for: the device at hand, or one named for a build without it.
struct BuildTarget {
  std::string name;       // in words, for logs and the keys of the timing cache
  bool isPresent = true;  // it is here, so that kernels can be timed
  // Of a GPU.
  int computeCapability = 90;  // 10 * major + minor
  int multiprocessors = 132;
  int64_t sharedBytesPerBlock = 227 << 10;
  bool isPortable = false;  // code is for this compute capability and all later ones
};

// All GPUs of compute capability 8.0 and later, timed on this one. Throws Error where this one is
// older.
BuildTarget ampereAndLater(BuildTarget target);

}  // namespace camshaft
