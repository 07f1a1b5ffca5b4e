#include "backends/cuda/runtime/libraries/calling_context.h"

#include "backends/cuda/runtime/driver.h"
#include "support/error.h"

namespace camshaft::cuda {

CUcontext currentContext() {
  CUcontext context = nullptr;
  check(driver().cuCtxGetCurrent(&context), "ask for the current CUDA context");
  if (!context)
    fail(ErrorKind::kUnsupported,
         "the vendor's libraries need a CUDA device, and this thread has none");
  return context;
}

void enterContext(CUcontext context) {
  check(driver().cuCtxSetCurrent(context), "enter a CUDA context");
}

RelaxedCapture::RelaxedCapture()
    : isRelaxed_(driver().cuThreadExchangeStreamCaptureMode(&mode_) == CUDA_SUCCESS) {}

RelaxedCapture::~RelaxedCapture() {
  if (isRelaxed_) driver().cuThreadExchangeStreamCaptureMode(&mode_);
}

}  // namespace camshaft::cuda
