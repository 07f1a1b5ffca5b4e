// What the machine offers: asked once by whoever sizes thread pools, tiles and cache keys.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace camshaft {

// By number, whether this thread may run on a core, and those that it starts.
std::vector<bool> affinityMask();

// Cores this thread may use: its affinity mask, cut by the container's CPU quota. At least 1.
int usableCores();

struct CacheSizes {
  size_t l1Data;  // bytes of one core
  size_t l2;      // bytes one core sees
};
CacheSizes cacheSizes();

// "Intel(R) Xeon(R) Platinum 8480+"; the architecture's name where the system gives no model.
std::string cpuModelName();

// What kernels choose by: "avx2+avx512f+vnni+amx-int8" or "neon+dotprod+i8mm+bf16". Two machines
// with the same model name and the same features may share a timing cache.
std::string cpuFeatures();

// Model, usable cores and features: what engines for this CPU say they were built for.
std::string describeCpu();

}  // namespace camshaft
