// The memory of one input or output of a context, and what it holds.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "NvInfer.h"
#include "elements.h"

namespace trtexec {

using Memory = std::unique_ptr<void, std::function<void(void*)>>;

Memory deviceMemory(nvinfer1::IDevice& device, size_t bytes);  // null where there is none left
Memory plainMemory(size_t bytes);                              // of the host

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
  size_t bytes() const { return bytesOf(type_, dims_); }
  std::string dimsText() const { return textOf(dims_); }

  void setDims(const nvinfer1::Dims& dims);  // makes room for them
  char* hostData() const { return static_cast<char*>(host_.get()); }
  void* address() const { return isOnDevice_ ? onDevice_.get() : host_.get(); }  // for the context

  void fillWithRandomValues();  // integers become zero: indices into any table
  void setBytes(std::string_view bytes, const std::string& origin);  // throws when too few or many
  // In the order of the stream; nothing to do for a tensor the engine keeps on the host.
  void copyToDevice(cudaStream_t stream) const;
  void copyToHost(cudaStream_t stream);

  // 0 for types narrower than a byte, whose values are not shown.
  size_t count() const { return hasWholeBytes(type_) ? elementsOf(dims_) : 0; }
  double valueAt(size_t index) const { return trtexec::valueAt(type_, hostData(), index); }

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
