#include "backends/cuda/runtime/libraries/cudnn.h"

#include <map>
#include <mutex>
#include <vector>

#include "backends/cuda/runtime/libraries/calling_context.h"
#include "backends/cuda/runtime/libraries/shared_library.h"
#include "support/error.h"

namespace camshaft::cuda {
namespace {

struct HandlePool {
  std::mutex mutex;
  std::map<void*, std::vector<cudnnHandle_t>> idle;  // by context
};

HandlePool& pool() {
  static HandlePool& instance = *new HandlePool;  // outlives every thread that gives one back
  return instance;
}

}  // namespace

Cudnn::Cudnn() {
  const SharedLibrary library("cuDNN 9", "cuDNN for CUDA 13 (nvidia-cudnn-cu13)", kCudnnNames);
  library.find(getVersion, "cudnnGetVersion");
  library.find(errorString, "cudnnGetErrorString");
  library.find(lastErrorString, "cudnnGetLastErrorString");
  library.find(create, "cudnnCreate");
  library.find(setStream, "cudnnSetStream");
  library.find(createDescriptor, "cudnnBackendCreateDescriptor");
  library.find(destroyDescriptor, "cudnnBackendDestroyDescriptor");
  library.find(setAttribute, "cudnnBackendSetAttribute");
  library.find(getAttribute, "cudnnBackendGetAttribute");
  library.find(finalize, "cudnnBackendFinalize");
  library.find(execute, "cudnnBackendExecute");
  library.find(populateGraph, "cudnnBackendPopulateCudaGraph");
}

void Cudnn::check(cudnnStatus_t status, const char* doing) const {
  if (status == CUDNN_STATUS_SUCCESS) return;
  char details[512] = {};
  lastErrorString(details, sizeof details);
  const bool isRefusal = CUDNN_STATUS_CATEGORY(status) == CUDNN_STATUS_NOT_SUPPORTED;
  fail(isRefusal ? ErrorKind::kUnsupported : ErrorKind::kDevice, "cuDNN failed while ", doing, ": ",
       errorString(status), details[0] ? ", " : "", details);
}

const Cudnn& cudnn() {
  static const Cudnn instance;
  return instance;
}

CudnnHandleLease::CudnnHandleLease() : context_(currentContext()) {
  {
    const std::lock_guard lock(pool().mutex);
    std::vector<cudnnHandle_t>& idle = pool().idle[context_];
    if (!idle.empty()) {
      handle_ = idle.back();
      idle.pop_back();
    }
  }
  if (!handle_) cudnn().check(cudnn().create(&handle_), "creating a handle");
}

CudnnHandleLease::~CudnnHandleLease() {
  const std::lock_guard lock(pool().mutex);
  pool().idle[context_].push_back(handle_);
}

}  // namespace camshaft::cuda
