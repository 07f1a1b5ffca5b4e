// Running cuDNN's plans on streams that come and go.
#pragma once

#include <cudnn_graph.h>

#include "backends/cuda/runtime/driver.h"

namespace camshaft::cuda {

// A handle whose stream lives for good, waiting for what `caller` has queued, its own until it goes
// back to a pool that is never emptied. A handle remembers the stream of its last call and queues
// something there when it is given another, so it must not be given a stream that may be destroyed.
class CudnnLane {
 public:
  // Makes one for the calling thread's context where none is idle, so that the next need not be
  // made inside a capture.
  static void keepOneReady();

  explicit CudnnLane(CUstream caller);
  ~CudnnLane();
  CudnnLane(const CudnnLane&) = delete;
  CudnnLane& operator=(const CudnnLane&) = delete;

  cudnnHandle_t handle() const { return parts_.handle; }
  void join() const;  // what the caller queues next waits for what the handle ran

 private:
  struct Parts {
    cudnnHandle_t handle = nullptr;
    CUstream stream = nullptr;
    CUevent begin = nullptr, end = nullptr;
  };
  struct Pool;
  static Pool& pool();
  static Parts makeParts();

  CUcontext context_;
  CUstream caller_;
  Parts parts_;
};

}  // namespace camshaft::cuda
