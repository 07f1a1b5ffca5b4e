// The driver functions of the CUDA backend on top of the emulator, so that its host logic runs and
// is watched on machines without a GPU:
//
//   EmulatedDriver emulated;
//   replaceDriver(&emulated.table());
//   ... run ...
//   EXPECT_EQ(emulated.count("cuMemAlloc"), 1u);
//   replaceDriver(nullptr);
//
// Streams do their work at once and in order. While a stream is captured its work is recorded, and
// replayed by cuGraphLaunch. What is loaded as a library is CUDA C++ text that ends with a zero.
// As on a GPU, most calls need a current context, more than 48 KiB of dynamic shared memory must be
// asked for, and memory can't be allocated nor a stream be waited for while one is captured.
// A kernel that fails makes its call return an error whose cuGetErrorString is the emulator's
// message.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "backends/cuda/runtime/driver.h"

namespace camshaft::emulator {

struct DriverCall {
  std::string function;  // "cuMemAlloc"
  std::string details;   // "1024 bytes"; of a launch: "add grid 4x1x1 block 64x1x1 shared 0"
};

struct DriverState;

// At most one at a time.
class EmulatedDriver {
 public:
  EmulatedDriver();
  ~EmulatedDriver();
  EmulatedDriver(const EmulatedDriver&) = delete;
  EmulatedDriver& operator=(const EmulatedDriver&) = delete;

  const cuda::Driver& table() const { return table_; }
  // Functions of the table that are not emulated: they answer CUDA_ERROR_NOT_SUPPORTED.
  const std::vector<std::string>& missing() const { return missing_; }

  // In order. Work replayed by a graph is listed too, as "graph: cuLaunchKernelEx" and the like.
  std::vector<DriverCall> calls() const;
  // How many calls of `function`, among those whose details contain `details`.
  size_t count(std::string_view function, std::string_view details = "") const;
  void clearCalls();

  // The n-th call of `function` from now on (1: the next) returns `result` and does nothing.
  void failCall(const std::string& function, int n, CUresult result);
  void failAllocation(int n) { failCall("cuMemAlloc", n, CUDA_ERROR_OUT_OF_MEMORY); }
  // What the device seems to be; the default is an H200 with 4 GiB.
  void setAttribute(CUdevice_attribute attribute, int value);
  void setMemory(size_t bytes);

  // Device allocations, pinned host allocations, streams, events, graphs and libraries that are
  // still held, one per line; empty when everything was given back.
  std::string leaks() const;

 private:
  std::unique_ptr<DriverState> state_;
  std::vector<std::string> missing_;
  cuda::Driver table_;
};

}  // namespace camshaft::emulator
