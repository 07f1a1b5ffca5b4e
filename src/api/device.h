// IDevice over a Device.
#pragma once

#include <string>

#include "api/report.h"
#include "backend/device.h"

namespace camshaft::api {

class DeviceAccess : public nvinfer1::IDevice {
 public:
  DeviceAccess(Device& device, const Reporter& reporter)
      : device_(device), reporter_(reporter), name_(device.describe()) {}
  ~DeviceAccess() override = default;

  const char* getName() const noexcept override { return name_.c_str(); }
  void* allocate(int64_t bytes) noexcept override;
  void release(void* memory) noexcept override;
  void* allocateHost(int64_t bytes) noexcept override;
  void releaseHost(void* memory) noexcept override;
  cudaStream_t createStream() noexcept override;
  void destroyStream(cudaStream_t stream) noexcept override;
  bool copy(void* to, const void* from, int64_t bytes, cudaStream_t stream) noexcept override;
  bool synchronize(cudaStream_t stream) noexcept override;
  void* mark(cudaStream_t stream) noexcept override;
  float millisecondsBetween(const void* begin, const void* end) noexcept override;
  void releaseMark(void* mark) noexcept override;

 private:
  Device& device_;
  Reporter reporter_;
  std::string name_;
};

}  // namespace camshaft::api
