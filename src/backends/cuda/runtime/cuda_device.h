// One GPU behind the Device interface, in its primary context: memory and streams are those that
// CUDA's runtime, and whoever else uses it in this process, see.
#pragma once

#include <mutex>
#include <string>

#include "backend/device.h"
#include "backends/cuda/runtime/driver.h"
#include "backends/cuda/services.h"

namespace camshaft::cuda {

class CudaDevice : public Device {
 public:
  explicit CudaDevice(int ordinal);

  std::string describe() const override { return target_.name; }
  void makeCurrent() override;
  void* allocate(int64_t bytes) override;
  void release(void* memory) noexcept override;
  void* allocateHost(int64_t bytes) override;
  void releaseHost(void* memory) noexcept override;
  int64_t freeBytes() override;
  bool canReach(const void* memory) override;
  void* createStream() override;
  void destroyStream(void* stream) noexcept override;
  void copy(void* to, const void* from, int64_t bytes, void* stream) override;
  void synchronize(void* stream) override;
  bool isRecording(void* stream) override;
  std::unique_ptr<Recording> record(void* stream, const std::function<void()>& enqueue) override;
  std::unique_ptr<Recording> recordBranches(
      void* stream, const std::vector<std::vector<size_t>>& after,
      const std::function<void(size_t piece)>& enqueue) override;
  void signal(void* event, void* stream) override;
  std::shared_ptr<void> mark(void* stream) override;
  double millisecondsBetween(const void* begin, const void* end) override;

  const BuildTarget& target() const { return target_; }

 private:
  CUdevice device_ = 0;
  CUcontext context_ = nullptr;
  BuildTarget target_;
  bool reachesHostMemory_ = false;
};

// The GPU of that number, as engines name it, and its memory: nothing is started on it.
std::string describeGpu(int ordinal);

// The calling thread's device: that of its current context, else the first.
CudaDevice& currentDevice();

}  // namespace camshaft::cuda
