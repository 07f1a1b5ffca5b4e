// What programs here share that run kernels by themselves: compiling, memory, launches, and work on
// the device in child processes, so that a kernel that traps or hangs costs its own case only,
// within a budget of time. Everything is printed as it comes.
#pragma once

#include <cuda.h>
#include <nvrtc.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "support/text.h"

using namespace camshaft;

struct DeviceError {
  std::string text;
};
inline void check(CUresult result, const char* what) {
  if (result == CUDA_SUCCESS) return;
  const char* text = "?";
  cuGetErrorString(result, &text);
  throw DeviceError{str(what, ": ", text)};
}
#define CHECK(call) check(call, #call)

struct Memory {
  CUdeviceptr at = 0;
  explicit Memory(size_t bytes) { CHECK(cuMemAlloc(&at, std::max<size_t>(bytes, 256))); }
  Memory(Memory&& other) noexcept : at(std::exchange(other.at, 0)) {}
  ~Memory() {
    if (at) cuMemFree(at);
  }
};

template <class... Args>
void launchPlain(CUfunction function, unsigned grid, Args... args) {
  void* pointers[] = {&args...};
  CHECK(cuLaunchKernel(function, grid, 1, 1, 256, 1, 1, 0, nullptr, pointers, nullptr));
}

inline CUfunction functionOf(CUmodule module, const char* name) {
  CUfunction function;
  CHECK(cuModuleGetFunction(&function, module, name));
  return function;
}

// ---- Processes ---------------------------------------------------------------------------------

// Written by children, read by all.
struct Progress {
  int position, checks, failures;
};
inline Progress* progress;

inline double secondsSinceStart() {
  static const auto start = std::chrono::steady_clock::now();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

template <class... Args>
void say(const Args&... args) {
  std::printf("[%5.1f s] %s\n", secondsSinceStart(), str(args...).c_str());
  std::fflush(stdout);
}
template <class... Args>
void complain(const Args&... args) {
  ++progress->failures;
  say("FAILED ", args...);
}

inline void* sharedMemory(size_t bytes) {
  return mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
}

inline void openDevice() {
  CUdevice device;
  CUcontext context;
  CHECK(cuInit(0));
  CHECK(cuDeviceGet(&device, 0));
  CHECK(cuDevicePrimaryCtxRetain(&context, device));
  CHECK(cuCtxSetCurrent(context));
}

// Runs `work` in children until the position has come to `end`. A case that kills one is left out.
// `work` returns false when the device is lost. Returns false when the time is over.
template <class Work>
bool inChildren(int end, double budget, Work work) {
  constexpr double kHang = 8;  // seconds in one case
  progress->position = 0;
  while (progress->position < end) {
    const pid_t child = fork();
    if (child == 0) {
      bool done = false;
      try {
        done = work();
      } catch (const DeviceError& error) {
        complain("case ", progress->position, ": ", error.text);
      }
      _exit(done ? 0 : 1);
    }
    int status = 0, seen = -1;
    double since = secondsSinceStart();
    while (waitpid(child, &status, WNOHANG) == 0) {
      usleep(20000);
      if (progress->position != seen) since = secondsSinceStart();
      seen = progress->position;
      const bool isOver = secondsSinceStart() > budget;
      if (!isOver && secondsSinceStart() - since < kHang) continue;
      kill(child, SIGKILL);
      waitpid(child, &status, 0);
      if (isOver) {
        say("time is over at case ", progress->position, " of ", end);
        return false;
      }
      complain("case ", progress->position, " hangs");
    }
    if (progress->position < end) {
      say("goes on behind case ", progress->position, " of ", end);
      ++progress->position;
    }
  }
  return true;
}

// ---- Compiling ---------------------------------------------------------------------------------

struct Binary {
  std::string name, source, code, log;
};

inline void compileAll(std::vector<Binary*> binaries) {
  std::atomic<size_t> next = 0;
  const auto work = [&] {
    for (size_t i; (i = next++) < binaries.size();) {
      Binary& binary = *binaries[i];
      nvrtcProgram program;
      nvrtcCreateProgram(&program, binary.source.c_str(), "kernel.cu", 0, nullptr, nullptr);
      const char* options[] = {"-arch=sm_90a", "-std=c++17", "-default-device",
                               "--ptxas-options=-v"};
      const bool ok = nvrtcCompileProgram(program, 4, options) == NVRTC_SUCCESS;
      size_t bytes = 0;
      nvrtcGetProgramLogSize(program, &bytes);
      binary.log.resize(bytes);
      nvrtcGetProgramLog(program, binary.log.data());
      if (ok) {
        nvrtcGetCUBINSize(program, &bytes);
        binary.code.resize(bytes);
        nvrtcGetCUBIN(program, binary.code.data());
      }
      nvrtcDestroyProgram(&program);
    }
  };
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < std::min(16u, std::thread::hardware_concurrency()); ++i)
    threads.emplace_back(work);
  for (std::thread& thread : threads) thread.join();
}

// The compiler starts the driver, and a process that has it cannot share it with its children: so
// a child compiles, and leaves its results in shared memory.
inline void compileInChild(const std::vector<Binary*>& binaries) {
  constexpr size_t kRoom = size_t{1} << 18;  // bytes of code and log per kernel
  struct Slot {
    size_t code, log;
    char bytes[kRoom];
  };
  auto* slots = static_cast<Slot*>(sharedMemory(sizeof(Slot) * binaries.size()));
  const pid_t child = fork();
  if (child == 0) {
    compileAll(binaries);
    for (size_t i = 0; i < binaries.size(); ++i) {
      Slot& slot = slots[i];
      slot.code = std::min(binaries[i]->code.size(), kRoom);
      slot.log = std::min(binaries[i]->log.size(), kRoom - slot.code);
      std::memcpy(slot.bytes, binaries[i]->code.data(), slot.code);
      std::memcpy(slot.bytes + slot.code, binaries[i]->log.data(), slot.log);
    }
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  for (size_t i = 0; i < binaries.size(); ++i) {
    binaries[i]->code.assign(slots[i].bytes, slots[i].code);
    binaries[i]->log.assign(slots[i].bytes + slots[i].code, slots[i].log);
    if (binaries[i]->code.empty())
      complain(binaries[i]->name, ": does not compile: ", binaries[i]->log.substr(0, 300));
    for (const char* word : {"C7508", "C7509", "C7510", "serialized", "warning"})
      if (const size_t at = binaries[i]->log.find(word); at != std::string::npos)
        complain(binaries[i]->name, ": ", binaries[i]->log.substr(at, 150));
  }
  say(binaries.size(), " kernels compiled");
}
