// A CUDA context of our own, beside the one that the rest of the process uses: streams captured in
// it disturb nobody, since nobody else synchronises it.
#pragma once

#include <mutex>

#include "backends/cuda/runtime/driver.h"

namespace camshaft::cuda {

class PrivateContext {
 public:
  // That of the calling thread's device, made when it is first asked for and kept for good. Throws
  // Error where there is no room for it.
  static PrivateContext& ofCurrentDevice();

  // While it lives, the context is the calling thread's, and no other thread's: what one thread
  // sets up there, another's capture would not survive.
  class Visit {
   public:
    explicit Visit(PrivateContext& context);
    ~Visit();
    Visit(const Visit&) = delete;
    Visit& operator=(const Visit&) = delete;

   private:
    std::lock_guard<std::mutex> lock_;
  };

  explicit PrivateContext(CUdevice device);
  CUcontext get() const { return context_; }

 private:
  CUcontext context_ = nullptr;
  std::mutex mutex_;
};

}  // namespace camshaft::cuda
