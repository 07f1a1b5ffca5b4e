// A device whose memory comes from the caller's IGpuAllocator.
#pragma once

#include "api/report.h"
#include "backend/forwarding_device.h"
#include "support/error.h"

namespace camshaft::api {

class AllocatorDevice : public ForwardingDevice {
 public:
  AllocatorDevice(Device& device, nvinfer1::IGpuAllocator& allocator)
      : ForwardingDevice(device), allocator_(allocator) {}

  void* allocate(int64_t bytes) override {
    constexpr uint64_t kAlignment = 256;
    void* memory = allocator_.allocateAsync(static_cast<uint64_t>(bytes), kAlignment, 0, stream_);
    if (!memory)
      fail(ErrorKind::kOutOfMemory, "the GPU allocator gave no memory for ", bytes, " bytes (",
           bytes >> 20, " MiB)");
    return memory;
  }
  void release(void* memory) noexcept override { allocator_.deallocateAsync(memory, stream_); }

  nvinfer1::IGpuAllocator& allocator() const { return allocator_; }
  void setStream(cudaStream_t stream) { stream_ = stream; }  // of what is allocated from now on

 private:
  nvinfer1::IGpuAllocator& allocator_;
  cudaStream_t stream_ = nullptr;
};

// Null without an allocator, which must outlive what is wrapped.
inline DeviceWrapper wrapperFor(nvinfer1::IGpuAllocator* allocator) {
  if (!allocator) return nullptr;
  return
      [allocator](Device& device) { return std::make_unique<AllocatorDevice>(device, *allocator); };
}

}  // namespace camshaft::api
