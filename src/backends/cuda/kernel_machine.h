// For tests: where generated kernels run. The emulator, or the GPU when CAMSHAFT_TEST_DEVICE is set
// in the environment ("time" also prints how long each kernel takes).
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "backends/cuda/generated_params.h"

namespace camshaft::cuda {

struct KernelLaunch {
  const std::string& source;
  std::string kernel;  // its entry point
  unsigned grid[3];
  GeneratedParams params;
  std::vector<void*>
      arguments;  // addresses of pointers and numbers, in the order of the parameters
};

class KernelMachine {
 public:
  virtual ~KernelMachine() = default;
  // Filled with 0xff, and guarded: check() throws when something around it was written.
  virtual void* allocate(size_t bytes) = 0;
  virtual void release(void* address) = 0;
  virtual void copyIn(void* to, const void* from, size_t bytes) = 0;
  virtual void copyOut(void* to, const void* from, size_t bytes) = 0;
  virtual void check() = 0;
  // Compiles many at once, so that launches find them compiled.
  virtual void prefetch(const std::vector<std::string>& sources) = 0;
  // Runs to the end. Throws when the number of parameters is wrong, where that is known.
  virtual void launch(const KernelLaunch& launch) = 0;
  // Prints how long the launch takes, where that is asked for.
  virtual void printTime(const KernelLaunch&) {}
};

KernelMachine& kernelMachine();

// A source for an architecture such as "sm_90a", and what NVRTC makes of it.
struct DeviceText {
  std::string source, architecture;
  std::vector<std::byte> binary;
  std::string error;  // its log, where it refuses
};
void compileForDevice(std::vector<DeviceText>& texts);  // on all cores

}  // namespace camshaft::cuda
