// A compiled source in this process.
#pragma once

#include <cstddef>
#include <string>

#include "cuda_emulator/device/interface.h"

namespace camshaft::emulator {

struct LoadedModule {
  std::string path;
  void* handle = nullptr;
  const EntryPoint* entries = nullptr;
  // The calling host thread's copy of the module's thread-local variables: its ThreadState, and
  // around it everything the source calls __shared__.
  ThreadState* (*threadState)() = nullptr;
  size_t sharedBytes = 0;

  LoadedModule() = default;
  ~LoadedModule();
  LoadedModule(const LoadedModule&) = delete;
  LoadedModule& operator=(const LoadedModule&) = delete;

  // Where this thread's __shared__ variables begin.
  void* sharedStorage() const;
};

// To be called by a host thread before it runs kernels: see module.cpp.
void refreshThreadStorage();

}  // namespace camshaft::emulator
