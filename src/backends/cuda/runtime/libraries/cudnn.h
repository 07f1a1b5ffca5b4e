// cuDNN 9, opened at run time, and its handles.
#pragma once

#include <cudnn_graph.h>

#include <string>

namespace camshaft::cuda {

inline constexpr const char* kCudnnNames[] = {"libcudnn.so.9"};

struct Cudnn {
  decltype(cudnnGetVersion)* getVersion;
  decltype(cudnnGetErrorString)* errorString;
  decltype(cudnnGetLastErrorString)* lastErrorString;
  decltype(cudnnCreate)* create;
  decltype(cudnnSetStream)* setStream;
  decltype(cudnnBackendCreateDescriptor)* createDescriptor;
  decltype(cudnnBackendDestroyDescriptor)* destroyDescriptor;
  decltype(cudnnBackendSetAttribute)* setAttribute;
  decltype(cudnnBackendGetAttribute)* getAttribute;
  decltype(cudnnBackendFinalize)* finalize;
  decltype(cudnnBackendExecute)* execute;
  decltype(cudnnBackendPopulateCudaGraph)* populateGraph;

  Cudnn();
  // Throws Error unless `status` is success: kUnsupported where cuDNN says that it does not do
  // such things, else kDevice.
  void check(cudnnStatus_t status, const char* doing) const;
};

// Throws Error(kUnsupported) where the library is missing.
const Cudnn& cudnn();

// A handle for the calling thread's context, its own until the lease ends: cuDNN's handles serve
// one thread at a time. Handles go back to a pool that is never emptied.
class CudnnHandleLease {
 public:
  CudnnHandleLease();
  ~CudnnHandleLease();
  CudnnHandleLease(const CudnnHandleLease&) = delete;
  CudnnHandleLease& operator=(const CudnnHandleLease&) = delete;
  cudnnHandle_t get() const { return handle_; }

 private:
  void* context_ = nullptr;
  cudnnHandle_t handle_ = nullptr;
};

}  // namespace camshaft::cuda
