// Finds libcamshaft_cuda.so, the run half of this backend, when it is first needed.
#pragma once

#include <string>
#include <vector>

namespace camshaft {
struct RuntimeBackend;
struct Finding;
}  // namespace camshaft

namespace camshaft::cuda {

class Services;

// What the library offers. Both sides must be of one version: C++ types cross the border.
struct CudaLibrary {
  const char* version;
  const RuntimeBackend* backend;
  Services* services;
  std::vector<Finding> (*findings)();
};
inline constexpr char kLibraryFile[] = "libcamshaft_cuda.so";
inline constexpr char kLibraryEntry[] = "camshaftCudaLibrary";  // const CudaLibrary* ()

// Null when it is not here; whyNotLoaded() then says why.
const CudaLibrary* loadedLibrary();
std::string whyNotLoaded();
// For tests: this one instead; null: the one on disk again.
void replaceLibrary(const CudaLibrary* library);

}  // namespace camshaft::cuda
