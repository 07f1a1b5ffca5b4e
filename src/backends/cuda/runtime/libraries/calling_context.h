// The CUDA context a library call belongs to, and leave to do set-up work while a graph is
// captured.
#pragma once

#include <cuda.h>

namespace camshaft::cuda {

// The calling thread's. Throws Error(kUnsupported) where there is no driver or no context.
CUcontext currentContext();

// Makes `context` the calling thread's.
void enterContext(CUcontext context);

// While it lives, this thread may allocate and load modules although some thread captures a
// graph: libraries do so when they meet a new shape.
class RelaxedCapture {
 public:
  RelaxedCapture();
  ~RelaxedCapture();
  RelaxedCapture(const RelaxedCapture&) = delete;
  RelaxedCapture& operator=(const RelaxedCapture&) = delete;

 private:
  CUstreamCaptureMode mode_ = CU_STREAM_CAPTURE_MODE_RELAXED;
  bool isRelaxed_;  // without a working driver there is no capture either
};

}  // namespace camshaft::cuda
