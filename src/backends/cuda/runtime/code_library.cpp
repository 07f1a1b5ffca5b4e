#include "backends/cuda/runtime/code_library.h"

#include <map>
#include <mutex>
#include <utility>

#include "backends/cuda/runtime/cuda_device.h"
#include "backends/cuda/runtime/libraries/calling_context.h"
#include "support/error.h"
#include "support/hash.h"

namespace camshaft::cuda {

CodeLibrary::CodeLibrary(std::span<const std::byte> binary) {
  const RelaxedCapture relaxed;
  const CUresult result = driver().cuLibraryLoadData(&library_, binary.data(), nullptr, nullptr, 0,
                                                     nullptr, nullptr, 0);
  if (result == CUDA_ERROR_UNSUPPORTED_PTX_VERSION)
    fail(ErrorKind::kInvalidEngine,
         "the engine's kernels are PTX of a newer CUDA than the driver "
         "of ",
         currentDevice().describe(), " takes; update the driver");
  if (result == CUDA_ERROR_NO_BINARY_FOR_GPU || result == CUDA_ERROR_INVALID_IMAGE ||
      result == CUDA_ERROR_INVALID_PTX)
    fail(ErrorKind::kInvalidEngine, "the engine's kernels were compiled for another GPU than ",
         currentDevice().describe(), "; build it again on this one");
  check(result, "load a kernel");
}

CodeLibrary::~CodeLibrary() {
  const RelaxedCapture relaxed;
  driver().cuLibraryUnload(library_);
}

std::shared_ptr<const CodeLibrary> CodeLibrary::of(std::span<const std::byte> binary) {
  // Never destroyed: threads may load engines while the process ends.
  static auto& mutex = *new std::mutex;
  static auto& loaded =
      *new std::map<std::pair<uint64_t, size_t>, std::weak_ptr<const CodeLibrary>>;
  const std::lock_guard lock(mutex);
  std::weak_ptr<const CodeLibrary>& known = loaded[{hashBytes(binary), binary.size()}];
  if (std::shared_ptr<const CodeLibrary> library = known.lock()) return library;
  auto library = std::make_shared<const CodeLibrary>(binary);
  known = library;
  return library;
}

CUkernel CodeLibrary::find(const std::string& name, unsigned sharedBytes, unsigned cluster) const {
  const RelaxedCapture relaxed;
  CUkernel kernel = nullptr;
  check(driver().cuLibraryGetKernel(&kernel, library_, name.c_str()),
        str("find kernel '", name, "'"));
  const auto allow = [&](CUfunction_attribute attribute, unsigned value, const std::string& what) {
    CUdevice device = 0;
    check(driver().cuCtxGetDevice(&device), "ask for the current GPU");
    check(driver().cuKernelSetAttribute(attribute, static_cast<int>(value), kernel, device), what);
  };
  constexpr unsigned kBytesWithoutAsking = 48 << 10, kBlocksWithoutAsking = 8;
  if (sharedBytes > kBytesWithoutAsking)
    allow(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, sharedBytes,
          str("give kernel '", name, "' ", sharedBytes, " bytes of shared memory"));
  if (cluster > kBlocksWithoutAsking)
    allow(CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1,
          str("run kernel '", name, "' in clusters of ", cluster, " blocks"));
  // Into memory now: a first launch must not have to, where somebody may be capturing a stream.
  CUfunction function = nullptr;
  check(driver().cuKernelGetFunction(&function, kernel), str("load kernel '", name, "'"));
  return kernel;
}

}  // namespace camshaft::cuda
