// The CUDA backend on the emulated driver: engines for device "cuda" are built and run on this
// machine's cores while one of these lives.
#pragma once

#include <memory>

#include "backend/launch.h"
#include "cuda_emulator/emulated_driver.h"

namespace camshaft::emulator {

// CAMSHAFT_TEST_CAPABILITY, or that of the simplest GPU: 75.
int capabilityOfTests();

// Kernels are those of a GPU of that compute capability, but clusters have one block only (as
// Hopper's product has them; device/clusters.cuh does the work of all blocks in one). The text of a
// kernel is its binary, and the vendor's libraries have nothing to offer. At most one at a time.
class EmulatedBackend {
 public:
  explicit EmulatedBackend(int computeCapability = capabilityOfTests());
  ~EmulatedBackend();
  EmulatedBackend(const EmulatedBackend&) = delete;
  EmulatedBackend& operator=(const EmulatedBackend&) = delete;

  EmulatedDriver& driver() { return driver_; }
  // Steps run by this kernel instead of the one that launches generated code, until this goes.
  void useKernel(const RuntimeKernel& kernel);

 private:
  EmulatedDriver driver_;
};

}  // namespace camshaft::emulator
