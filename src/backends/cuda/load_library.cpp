#include "backends/cuda/load_library.h"

#include <dlfcn.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <span>

#include "backends/cuda/services.h"
#include "support/code_file.h"
#include "support/error.h"
#include "support/version.h"

namespace camshaft::cuda {
namespace {

std::atomic<const CudaLibrary*> replaced{nullptr};

struct Loaded {
  const CudaLibrary* library = nullptr;
  std::string problem;
};

// Null with the reason of the first place.
void* openFirst(std::span<const std::string> places, std::string& reason) {
  for (const std::string& place : places) {
    if (void* handle = dlopen(place.c_str(), RTLD_NOW | RTLD_LOCAL)) return handle;
    if (const char* words = dlerror(); reason.empty() && words) reason = words;
  }
  return nullptr;
}

Loaded load() {
  void* handle = nullptr;
  std::string reason;
  if (const char* chosen = std::getenv("CAMSHAFT_CUDA_LIBRARY"); chosen && *chosen) {
    const std::string places[] = {chosen};
    handle = openFirst(places, reason);
    if (!handle)
      return {nullptr, str("the CUDA backend that CAMSHAFT_CUDA_LIBRARY names does not load (",
                           reason, "); correct the variable or unset it")};
  } else {
    // Beside the library or program this code is in, or where it lies in a build tree.
    const std::string folder = folderOf(fileOf(&loadedLibrary));
    const std::string places[] = {folder + kLibraryFile, folder + "../lib/" + kLibraryFile,
                                  kLibraryFile};
    handle = openFirst(places, reason);
  }
  if (!handle)
    return {nullptr,
            str("this installation has no CUDA backend (", reason,
                "); build Camshaft where CUDA's headers are, or set CAMSHAFT_CUDA_LIBRARY")};
  const auto entry = reinterpret_cast<const CudaLibrary* (*)()>(dlsym(handle, kLibraryEntry));
  const CudaLibrary* library = entry ? entry() : nullptr;
  if (!library || std::strcmp(library->version, kVersion) != 0)
    return {nullptr, str(kLibraryFile, " is of another version of Camshaft than this (", kVersion,
                         "); install both from one build")};
  return {library, {}};
}

const Loaded& onDisk() {
  static const Loaded kLoaded = load();
  return kLoaded;
}

}  // namespace

const CudaLibrary* loadedLibrary() {
  const CudaLibrary* replacement = replaced.load(std::memory_order_acquire);
  return replacement ? replacement : onDisk().library;
}

std::string whyNotLoaded() { return onDisk().problem; }

void replaceLibrary(const CudaLibrary* library) {
  replaced.store(library, std::memory_order_release);
}

Services& services() {
  const CudaLibrary* library = loadedLibrary();
  if (!library) fail(ErrorKind::kUnsupported, whyNotLoaded());
  return *library->services;
}

}  // namespace camshaft::cuda
