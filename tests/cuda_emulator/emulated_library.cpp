// The emulated backend in place of libcamshaft_cuda.so, for programs that link the library as users
// do: CAMSHAFT_CUDA_LIBRARY=libcamshaft_cuda_emulated.so trtexec ...
#include "backends/cuda/load_library.h"
#include "cuda_emulator/emulated_backend.h"

extern "C" __attribute__((visibility("default"))) const camshaft::cuda::CudaLibrary*
camshaftCudaLibrary() {
  static const camshaft::emulator::EmulatedBackend kBackend;
  return camshaft::cuda::loadedLibrary();
}
