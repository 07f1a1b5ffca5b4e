#include "backends/cuda/runtime/libraries/shared_library.h"

#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>
#include <vector>

#include "support/code_file.h"
#include "support/error.h"

namespace camshaft::cuda {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> foldersFromEnvironment() {
  std::vector<fs::path> folders;
  const char* text = std::getenv("CAMSHAFT_CUDA_LIBRARIES");
  std::string_view rest = text ? text : "";
  while (!rest.empty()) {
    const size_t end = rest.find(':');
    if (end != 0) folders.emplace_back(rest.substr(0, end));
    rest = end == std::string_view::npos ? "" : rest.substr(end + 1);
  }
  return folders;
}

// Of the Python environment that this library lies in, in a folder of its package or one below:
// site-packages/nvidia/*/lib.
std::vector<fs::path> foldersOfPythonPackages() {
  std::vector<fs::path> folders;
  const fs::path package = fs::path(fileOf(&foldersOfPythonPackages)).parent_path();
  std::error_code ignored;
  for (const fs::path& packages : {package.parent_path(), package.parent_path().parent_path()})
    for (const auto& entry : fs::directory_iterator(packages / "nvidia", ignored))
      folders.push_back(entry.path() / "lib");
  return folders;
}

void* openIn(const std::vector<fs::path>& folders, std::span<const char* const> names) {
  for (const fs::path& folder : folders) {
    for (const char* name : names) {
      if (void* handle = dlopen((folder / name).c_str(), RTLD_NOW | RTLD_LOCAL)) return handle;
    }
  }
  return nullptr;
}

void* openByName(std::span<const char* const> names, int flags) {
  for (const char* name : names) {
    if (void* handle = dlopen(name, RTLD_NOW | RTLD_LOCAL | flags)) return handle;
  }
  return nullptr;
}

}  // namespace

SharedLibrary::SharedLibrary(std::string_view product, std::string_view package,
                             std::span<const char* const> names)
    : product_(product) {
  handle_ = openByName(names, RTLD_NOLOAD);
  if (!handle_) handle_ = openIn(foldersFromEnvironment(), names);
  if (!handle_) handle_ = openByName(names, 0);
  if (!handle_) handle_ = openIn(foldersOfPythonPackages(), names);
  if (!handle_) {
    fail(ErrorKind::kUnsupported, product_, " (", names[0], ") was not found: install ", package,
         ", or name its folder in CAMSHAFT_CUDA_LIBRARIES");
  }
}

void* SharedLibrary::findSymbol(const char* symbol) const {
  void* address = dlsym(handle_, symbol);
  if (!address) {
    fail(ErrorKind::kUnsupported, "the ", product_, " found here has no function ", symbol,
         ": install a newer one, or name its folder in CAMSHAFT_CUDA_LIBRARIES");
  }
  return address;
}

}  // namespace camshaft::cuda
