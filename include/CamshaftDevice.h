#pragma once

// The device an engine runs on. Not part of TensorRT's interface.

#include "NvInferRuntimeTypes.h"

namespace nvinfer1 {

// Memory, streams and copies of the device an engine runs on, for programs that do
// without CUDA's runtime. Pointers and streams are CUDA's and mix with those made there. Usable
// from several threads at once; a failure is reported to the engine's logger and returns null,
// false or -1.
class CAMSHAFT_API IDevice : public INoCopy {
 public:
  virtual const char* getName() const noexcept = 0;
  virtual void* allocate(int64_t bytes) noexcept = 0;
  virtual void release(void* memory) noexcept = 0;
  virtual void* allocateHost(int64_t bytes) noexcept = 0;  // pinned: copies from and to it are fast
  virtual void releaseHost(void* memory) noexcept = 0;
  virtual cudaStream_t createStream() noexcept = 0;
  virtual void destroyStream(cudaStream_t stream) noexcept = 0;
  // Between host and device or within it, in the order of the stream.
  virtual bool copy(void* to, const void* from, int64_t bytes, cudaStream_t stream) noexcept = 0;
  virtual bool synchronize(cudaStream_t stream) noexcept = 0;
  // A point in the stream, to be given back; milliseconds between two once both are reached.
  virtual void* mark(cudaStream_t stream) noexcept = 0;
  virtual float millisecondsBetween(const void* begin, const void* end) noexcept = 0;
  virtual void releaseMark(void* mark) noexcept = 0;

 protected:
  ~IDevice() override = default;
};

}  // namespace nvinfer1
