// The emulated backend in place of libcamshaft_cuda.so, for programs that link the library as users
// do: CAMSHAFT_CUDA_LIBRARY=libcamshaft_cuda_emulated.so trtexec ...
//
// CAMSHAFT_EMULATED_FAULT=NAME:HOW makes kernels whose name contains NAME go wrong in this process:
// "716" is a misaligned address, after which every call fails, as on a GPU; "crash" ends the
// process, "hang" never ends, and "nothing" does nothing, so that results are missing. With
// "compile" the process ends that compiles such a kernel.
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <string>

#include "backend/device.h"
#include "backends/cuda/load_library.h"
#include "backends/cuda/services.h"
#include "cuda_emulator/driver_state.h"
#include "cuda_emulator/emulated_backend.h"

namespace camshaft::emulator {
namespace {

const cuda::Driver* sound = nullptr;  // the driver without faults
std::string faultyName, fault;
std::atomic<bool> isPoisoned = false;

CUresult launchOrFail(const CUlaunchConfig* config, CUfunction function, void** parameters,
                      void** extra) {
  if (isPoisoned) return CUDA_ERROR_MISALIGNED_ADDRESS;
  const auto& kernel = *reinterpret_cast<const CUkern_st*>(function);
  if (kernel.function.name.find(faultyName) == std::string::npos)
    return sound->cuLaunchKernelEx(config, function, parameters, extra);
  if (fault == "716") isPoisoned = true;  // the launch is fine; what follows is not
  if (fault == "crash") std::raise(SIGSEGV);
  while (fault == "hang") pause();
  return CUDA_SUCCESS;
}

CUresult synchronizeOrFail(CUstream stream) {
  return isPoisoned ? CUDA_ERROR_MISALIGNED_ADDRESS : sound->cuStreamSynchronize(stream);
}
CUresult allocateOrFail(CUdeviceptr* memory, size_t bytes) {
  return isPoisoned ? CUDA_ERROR_MISALIGNED_ADDRESS : sound->cuMemAlloc(memory, bytes);
}
CUresult createStreamOrFail(CUstream* stream, unsigned flags) {
  return isPoisoned ? CUDA_ERROR_MISALIGNED_ADDRESS : sound->cuStreamCreate(stream, flags);
}

void injectFault(const cuda::Driver& driver, std::string_view request) {
  const size_t colon = request.find(':');
  faultyName = request.substr(0, colon);
  fault = colon == std::string_view::npos ? "716" : request.substr(colon + 1);
  if (fault == "compile") return;
  sound = &driver;
  static cuda::Driver faulty;
  faulty = driver;
  faulty.cuLaunchKernelEx = launchOrFail;
  faulty.cuStreamSynchronize = synchronizeOrFail;
  faulty.cuMemAlloc = allocateOrFail;
  faulty.cuStreamCreate = createStreamOrFail;
  cuda::replaceDriver(&faulty);
}

CompiledCode compileOrFail(const std::string& source, const BuildTarget& target) {
  if (fault == "compile" && source.find(faultyName) != std::string::npos) std::raise(SIGSEGV);
  return cuda::loadedLibrary()->services->compile(std::span(&source, 1), target).front();
}

}  // namespace
}  // namespace camshaft::emulator

extern "C" __attribute__((visibility("default"))) const camshaft::cuda::CudaLibrary*
camshaftCudaLibrary() {
  using namespace camshaft::emulator;
  static EmulatedBackend backend;
  static const bool kIsFaulty = [] {
    const char* request = std::getenv("CAMSHAFT_EMULATED_FAULT");
    if (request && *request) injectFault(backend.driver().table(), request);
    return request != nullptr;
  }();
  (void)kIsFaulty;
  const camshaft::cuda::CudaLibrary& emulated = *camshaft::cuda::loadedLibrary();
  static camshaft::RuntimeBackend runtime = *emulated.backend;
  runtime.compileAlone = compileOrFail;  // as NVRTC does
  static const camshaft::cuda::CudaLibrary kLibrary{emulated.version, &runtime, emulated.services,
                                                    emulated.findings};
  return &kLibrary;
}
