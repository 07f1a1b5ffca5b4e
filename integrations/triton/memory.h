// Memory of an instance, on the host or on its engine's device.
#pragma once

#include <cstdint>

#include "CamshaftDevice.h"
#include "NvInfer.h"
#include "triton_api.h"

namespace triton_backend {

// Where a tensor lies that Triton gave or asked for.
struct Place {
  TRITONSERVER_MemoryType memory = TRITONSERVER_MEMORY_CPU;
  int64_t device = 0;
  bool isOnHost() const { return memory != TRITONSERVER_MEMORY_GPU; }
};

// The device that an engine computes on, and the stream of one instance there; the host where there
// is none.
class Stream {
 public:
  explicit Stream(nvinfer1::IDevice* device);
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  nvinfer1::IDevice* device() const { return device_; }
  cudaStream_t handle() const { return stream_; }
  // In the order of the stream, which waits for nobody where both are on the host.
  void copy(void* to, const void* from, uint64_t bytes) const;
  void wait() const;

 private:
  nvinfer1::IDevice* device_;
  cudaStream_t stream_ = nullptr;
};

// Memory that grows to what was asked for most and stays.
class Buffer {
 public:
  explicit Buffer(nvinfer1::IDevice* device = nullptr) : device_(device) {}  // null: host memory
  ~Buffer() { release(); }
  Buffer(Buffer&& other) noexcept;
  Buffer& operator=(Buffer&&) = delete;

  void* reserve(uint64_t bytes);  // never null; what was there before may be lost
  void* data() const { return data_; }

 private:
  void release();

  nvinfer1::IDevice* device_;
  void* data_ = nullptr;
  uint64_t bytes_ = 0;
};

}  // namespace triton_backend
