#include "backends/cuda/runtime/libraries/libraries.h"

#include "backends/cuda/runtime/libraries/cublaslt.h"
#include "backends/cuda/runtime/libraries/cudnn.h"
#include "support/error.h"

namespace camshaft::cuda {
namespace {

template <class Library>
std::string versionOf(const Library& (*library)()) {
  try {
    return std::to_string(library().getVersion());
  } catch (const Error&) {
    return "none";
  }
}

}  // namespace

std::string describeLibraries() {
  return str("cublasLt ", versionOf(cublasLt), ", cudnn ", versionOf(cudnn));
}

std::span<const RuntimeKernel* const> libraryKernels() {
  static constexpr const RuntimeKernel* kKernels[] = {&kGemmCublasLt, &kConvCudnn,
                                                      &kAttentionCudnn};
  return kKernels;
}

}  // namespace camshaft::cuda
