#include "backends/cuda/runtime/driver.h"

#include <dlfcn.h>

#include <atomic>

#include "support/error.h"

namespace camshaft::cuda {
namespace {

constexpr int kOldestDriver = 12080;  // the newest of the functions below

std::atomic<const Driver*> replaced{nullptr};

Driver open() {
  void* library = dlopen(kDriverNames[0], RTLD_NOW | RTLD_LOCAL);
  if (!library)
    fail(ErrorKind::kUnsupported,
         "no CUDA driver was found (libcuda.so.1 does not load); install NVIDIA's driver, or build "
         "for the CPU");
  Driver driver;
#define CAMSHAFT_TEXT(name) #name
#define CAMSHAFT_LOAD(name)                                                                      \
  driver.name = reinterpret_cast<decltype(driver.name)>(dlsym(library, CAMSHAFT_TEXT(name)));    \
  if (!driver.name)                                                                              \
    fail(ErrorKind::kUnsupported, "the CUDA driver is too old: it has no ", CAMSHAFT_TEXT(name), \
         "; install the driver of CUDA 12.8 or newer");
  CAMSHAFT_CUDA_DRIVER_FUNCTIONS(CAMSHAFT_LOAD)
#undef CAMSHAFT_LOAD
#undef CAMSHAFT_TEXT
  if (const CUresult result = driver.cuInit(0); result != CUDA_SUCCESS) {
    const char* words = nullptr;
    driver.cuGetErrorString(result, &words);
    fail(ErrorKind::kUnsupported,
         "the CUDA driver does not start: ", words ? words : "unknown error");
  }
  int version = 0;
  driver.cuDriverGetVersion(&version);
  if (version < kOldestDriver)
    fail(ErrorKind::kUnsupported, "the CUDA driver supports CUDA ", version / 1000, ".",
         version % 1000 / 10, ", and 12.8 or newer is needed; update NVIDIA's driver");
  return driver;
}

}  // namespace

const Driver& driver() {
  if (const Driver* replacement = replaced.load(std::memory_order_acquire)) return *replacement;
  static const Driver kDriver = open();
  return kDriver;
}

void replaceDriver(const Driver* replacement) {
  replaced.store(replacement, std::memory_order_release);
}

void check(CUresult result, std::string_view what) {
  if (result == CUDA_SUCCESS) return;
  const char* words = nullptr;
  driver().cuGetErrorString(result, &words);
  const ErrorKind kind =
      result == CUDA_ERROR_OUT_OF_MEMORY ? ErrorKind::kOutOfMemory : ErrorKind::kDevice;
  fail(kind, "could not ", what, ": ", words ? words : "unknown CUDA error", " (CUDA error ",
       static_cast<int>(result), ")");
}

}  // namespace camshaft::cuda
