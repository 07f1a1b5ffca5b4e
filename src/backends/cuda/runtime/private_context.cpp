#include "backends/cuda/runtime/private_context.h"

#include <map>
#include <memory>

namespace camshaft::cuda {

PrivateContext::PrivateContext(CUdevice device) {
  CUctxCreateParams params = {};
  check(driver().cuCtxCreate(&context_, &params, 0, device),
        "make a CUDA context to record libraries' launches in");
  CUcontext popped = nullptr;  // a new context is the thread's at once
  check(driver().cuCtxPopCurrent(&popped), "leave a CUDA context");
}

PrivateContext& PrivateContext::ofCurrentDevice() {
  static std::mutex mutex;
  // Never destroyed: the driver may be gone by the time static objects are.
  static auto& contexts = *new std::map<CUdevice, std::unique_ptr<PrivateContext>>;
  CUdevice device = 0;
  check(driver().cuCtxGetDevice(&device), "ask for the current GPU");
  const std::lock_guard lock(mutex);
  std::unique_ptr<PrivateContext>& context = contexts[device];
  if (!context) context = std::make_unique<PrivateContext>(device);
  return *context;
}

PrivateContext::Visit::Visit(PrivateContext& context) : lock_(context.mutex_) {
  check(driver().cuCtxPushCurrent(context.context_), "enter a CUDA context");
}

PrivateContext::Visit::~Visit() {
  CUcontext popped = nullptr;
  driver().cuCtxPopCurrent(&popped);
}

}  // namespace camshaft::cuda
