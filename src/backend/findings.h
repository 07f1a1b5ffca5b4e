// What backends found on this machine, for whoever asks what will be used, and why something is
// not.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace camshaft {

struct Finding {
  std::string name;     // "cuDNN"
  std::string version;  // or which kind of it: "9.19.0", "neon"
  std::string path;     // of the file that was opened, where there is one
  std::string problem;  // why it cannot be used; empty: it is. With a path: it is here, and broken
};

// Those of a backend ("cpu", "cuda"), what others need first (backends.cpp).
std::vector<Finding> findings(std::string_view backend);

}  // namespace camshaft
