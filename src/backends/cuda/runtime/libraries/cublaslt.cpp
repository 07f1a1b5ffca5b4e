#include "backends/cuda/runtime/libraries/cublaslt.h"

#include <future>
#include <map>
#include <mutex>

#include "backends/cuda/runtime/libraries/calling_context.h"
#include "backends/cuda/runtime/libraries/shared_library.h"
#include "support/error.h"

namespace camshaft::cuda {

CublasLt::CublasLt() {
  const SharedLibrary library("cuBLASLt", "cuBLAS of CUDA 13 (nvidia-cublas)", kCublasLtNames);
  library.find(getVersion, "cublasLtGetVersion");
  library.find(statusString, "cublasLtGetStatusString");
  library.find(create, "cublasLtCreate");
  library.find(matmulDescCreate, "cublasLtMatmulDescCreate");
  library.find(matmulDescDestroy, "cublasLtMatmulDescDestroy");
  library.find(matmulDescSet, "cublasLtMatmulDescSetAttribute");
  library.find(layoutCreate, "cublasLtMatrixLayoutCreate");
  library.find(layoutDestroy, "cublasLtMatrixLayoutDestroy");
  library.find(layoutSet, "cublasLtMatrixLayoutSetAttribute");
  library.find(preferenceCreate, "cublasLtMatmulPreferenceCreate");
  library.find(preferenceDestroy, "cublasLtMatmulPreferenceDestroy");
  library.find(preferenceSet, "cublasLtMatmulPreferenceSetAttribute");
  library.find(getHeuristic, "cublasLtMatmulAlgoGetHeuristic");
  library.find(checkAlgorithm, "cublasLtMatmulAlgoCheck");
  library.find(getAlgorithmAttribute, "cublasLtMatmulAlgoConfigGetAttribute");
  library.find(matmul, "cublasLtMatmul");
}

void CublasLt::check(cublasStatus_t status, const char* doing) const {
  if (status != CUBLAS_STATUS_SUCCESS) {
    fail(ErrorKind::kDevice, "cuBLASLt failed while ", doing, ": ", statusString(status));
  }
}

const CublasLt& cublasLt() {
  static const CublasLt instance;
  return instance;
}

cublasLtHandle_t cublasLtHandle() {
  // Never destroyed: the driver may be gone by the time static objects are.
  static auto& handles = *new std::map<CUcontext, cublasLtHandle_t>;
  static std::mutex mutex;
  const CUcontext context = currentContext();
  const std::lock_guard lock(mutex);
  cublasLtHandle_t& handle = handles[context];
  if (!handle) cublasLt().check(cublasLt().create(&handle), "creating its handle");
  return handle;
}

std::shared_ptr<const void> openCublasLtMeanwhile() {
  using Opening = std::shared_future<void>;
  static std::mutex mutex;
  static std::weak_ptr<const Opening>& latest = *new std::weak_ptr<const Opening>;
  try {
    const CUcontext context = currentContext();
    const std::lock_guard lock(mutex);
    std::shared_ptr<const Opening> opening = latest.lock();
    if (!opening) {
      opening = std::make_shared<const Opening>(std::async(std::launch::async, [context] {
        enterContext(context);
        const RelaxedCapture relaxed;
        cublasLtHandle();
      }));
      latest = opening;
    }
    return opening;
  } catch (const Error&) {
    return nullptr;
  }
}

}  // namespace camshaft::cuda
