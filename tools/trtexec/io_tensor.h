// The memory of one input or output of a context, and what it holds.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "NvInfer.h"

namespace trtexec {

using Memory = std::unique_ptr<void, std::function<void(void*)>>;

// On the host always, pinned where there is a device; on the device too where the engine wants the
// tensor there. As an output allocator it grows the memory of an output whose size a run decides.
class IoTensor : public nvinfer1::IOutputAllocator {
 public:
  IoTensor(const nvinfer1::ICudaEngine& engine, const char* name);

  const std::string& name() const { return name_; }
  nvinfer1::DataType type() const { return type_; }
  bool isInput() const { return isInput_; }
  bool isOnDevice() const { return isOnDevice_; }
  const nvinfer1::Dims& dims() const { return dims_; }
  size_t bytes() const;
  std::string dimsText() const;

  void setDims(const nvinfer1::Dims& dims);  // makes room for them
  char* hostData() const { return static_cast<char*>(host_.get()); }
  void* address() const { return isOnDevice_ ? onDevice_.get() : host_.get(); }  // for the context

  void fillWithRandomValues();  // integers become zero: indices into any table
  void setBytes(const std::string& bytes,
                const std::string& origin);  // throws when too few or many
  // In the order of the stream; nothing to do for a tensor the engine keeps on the host.
  void copyToDevice(cudaStream_t stream) const;
  void copyToHost(cudaStream_t stream);

  size_t count() const;  // 0 for types narrower than a byte, whose values are not shown
  double valueAt(size_t index) const;

  void* reallocateOutput(const char*, void*, uint64_t size, uint64_t) noexcept override;
  void notifyShape(const char*, const nvinfer1::Dims& shape) noexcept override { dims_ = shape; }

 private:
  void reserve(size_t bytes);
  void reserveHost(size_t bytes);

  nvinfer1::IDevice* device_;
  std::string name_;
  nvinfer1::DataType type_;
  bool isInput_, isOnDevice_;
  nvinfer1::Dims dims_{};
  size_t hostCapacity_ = 0, deviceCapacity_ = 0;
  Memory host_, onDevice_;
};

}  // namespace trtexec
