// Runs CUDA C++ kernels on the host, for tests on machines without a GPU.
//
// A source is one translation unit as NVRTC would get it: no includes, entry points
// `extern "C" __global__ void name(...)`. It is compiled with g++ behind device/prelude.h and with
// CAMSHAFT_EMULATOR defined: sources put inline PTX under `#ifndef CAMSHAFT_EMULATOR` and plain C++
// on the other side. The threads of a block are fibers of one host thread, so a data race between
// barriers is not found by chance; blocks run on several host threads.
//
// Every failure is a std::runtime_error. A kernel that touches memory outside its allocations,
// indexes outside an array of known size, uses a misaligned pointer, divides an integer by zero,
// calls __trap() or waits for threads that never come is named with block, thread and source line.
//
// Environment: CAMSHAFT_EMULATOR_CACHE   folder for compiled sources (else under the temp folder)
//              CAMSHAFT_EMULATOR_THREADS host threads per launch (else the number of cores)
//              CAMSHAFT_EMULATOR_ASAN    set in a program built with -fsanitize=address, compiles
//                                        kernels that way too
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace camshaft::emulator {

struct EntryPoint;
struct LoadedModule;

// Dynamic shared memory a block may ask for, as on sm_90.
constexpr size_t kMaxSharedBytes = 227 * 1024;

// A kernel; keeps its module loaded.
struct Function {
  std::shared_ptr<const LoadedModule> module;
  const EntryPoint* entry = nullptr;
  std::string name;
  // In the order of the parameters.
  std::vector<size_t> parameterSizes;
};

class Module {
 public:
  // Compiles, or takes from the cache. An error carries the first lines of what g++ said.
  static std::shared_ptr<Module> compile(const std::string& source);

  Function find(const std::string& name) const;
  std::vector<std::string> kernels() const;

 private:
  explicit Module(std::shared_ptr<const LoadedModule> loaded) : loaded_(std::move(loaded)) {}
  std::shared_ptr<const LoadedModule> loaded_;
};

// Compiles what is not in the cache yet, two at a time.
void prefetch(const std::vector<std::string>& sources);

// Runs all blocks to the end, then checks memory as checkMemory() does.
void launch(const Function& function, const unsigned grid[3], const unsigned block[3],
            size_t sharedBytes, void** parameters);

// Device memory: aligned to 256 bytes, filled with 0xFF (NaN), between pages that fault when
// touched. The bytes up to the next page are a redzone that checkMemory() looks at.
void* allocate(size_t bytes);
void release(void* address);
// memcpy that refuses to leave an allocation on either side. Addresses outside of all allocations
// are taken to be the caller's own memory.
void copy(void* to, const void* from, size_t bytes);
void fill(void* to, unsigned char value, size_t bytes);
// Throws when a redzone was overwritten, naming the allocation.
void checkMemory();
size_t allocationCount();

}  // namespace camshaft::emulator
