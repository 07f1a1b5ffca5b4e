#pragma once

// Interfaces that callers implement for the run time: memory, streams of bytes, profiles,
// debugging.

#include "NvInferRuntimeTypes.h"

namespace nvinfer1 {

// Bit numbers of AllocatorFlags: how memory from an IGpuAllocator will be used. None is asked for
// today.
enum class AllocatorFlag : int32_t {
  kRESIZABLE = 0,  // reallocate() may be called on it
};
template <>
constexpr int32_t EnumMax<AllocatorFlag>() noexcept {
  return 1;
}
using AllocatorFlags = uint32_t;

// What an offset counts from.
enum class SeekPosition : int32_t {
  kSET = 0,
  kCUR = 1,
  kEND = 2,
};
template <>
constexpr int32_t EnumMax<SeekPosition>() noexcept {
  return 3;
}

namespace v_1_0 {

// Provides device memory in place of the library: weights, scratch memory of contexts and buffers
// whose size only a run decides. Implemented by the caller; called from any thread. Override the
// first pair or the second, which the library calls: its defaults use the first. The stream is the
// one the memory is used on, null where no work is queued yet.
class CAMSHAFT_API IGpuAllocator : public IVersionedInterface {
 public:
  // At least `size` bytes on the current device, aligned to `alignment` (a power of two), or null.
  virtual void* allocate(const uint64_t size, const uint64_t alignment,
                         const AllocatorFlags flags) noexcept = 0;

  IGpuAllocator() = default;
  ~IGpuAllocator() override = default;

  // Grows memory that was allocated as kRESIZABLE; null where that cannot be.
  virtual void* reallocate(void* const /*memory*/, uint64_t /*alignment*/,
                           uint64_t /*newSize*/) noexcept {
    return nullptr;
  }
  virtual bool deallocate(void* const memory) noexcept = 0;
  virtual void* allocateAsync(const uint64_t size, const uint64_t alignment,
                              const AllocatorFlags flags, cudaStream_t /*stream*/) noexcept {
    return allocate(size, alignment, flags);
  }
  virtual bool deallocateAsync(void* const memory, cudaStream_t /*stream*/) noexcept {
    return deallocate(memory);
  }

  InterfaceInfo getInterfaceInfo() const noexcept override { return {"IGpuAllocator", 1, 0}; }

 protected:
  IGpuAllocator(const IGpuAllocator&) = default;
  IGpuAllocator(IGpuAllocator&&) = default;
  IGpuAllocator& operator=(const IGpuAllocator&) & = default;
  IGpuAllocator& operator=(IGpuAllocator&&) & = default;
};

// An allocator by streams alone.
class CAMSHAFT_API IGpuAsyncAllocator : public IGpuAllocator {
 public:
  IGpuAsyncAllocator() = default;
  ~IGpuAsyncAllocator() override = default;

  void* allocateAsync(const uint64_t size, const uint64_t alignment, const AllocatorFlags flags,
                      cudaStream_t stream) noexcept override = 0;
  bool deallocateAsync(void* const memory, cudaStream_t stream) noexcept override = 0;
  void* allocate(const uint64_t size, const uint64_t alignment,
                 const AllocatorFlags flags) noexcept override {
    return allocateAsync(size, alignment, flags, nullptr);
  }
  bool deallocate(void* const memory) noexcept override { return deallocateAsync(memory, nullptr); }
  InterfaceInfo getInterfaceInfo() const noexcept override { return {"IGpuAllocator", 1, 0}; }
};

// Gives the bytes of an engine from first to last.
class CAMSHAFT_API IStreamReader : public IVersionedInterface {
 public:
  ~IStreamReader() override = default;
  IStreamReader() = default;
  InterfaceInfo getInterfaceInfo() const noexcept override { return {"IStreamReader", 1, 0}; }

  // Fills up to nbBytes and returns how many; fewer at the end, -1 on failure.
  virtual int64_t read(void* destination, int64_t nbBytes) = 0;

 protected:
  IStreamReader(const IStreamReader&) = default;
  IStreamReader(IStreamReader&&) = default;
  IStreamReader& operator=(const IStreamReader&) & = default;
  IStreamReader& operator=(IStreamReader&&) & = default;
};

// Takes the bytes of an engine from first to last.
class CAMSHAFT_API IStreamWriter : public IVersionedInterface {
 public:
  ~IStreamWriter() override = default;
  IStreamWriter() = default;
  InterfaceInfo getInterfaceInfo() const noexcept final { return {"IStreamWriter", 1, 0}; }

  // Returns how many were taken; fewer than nbBytes fail the call that writes.
  virtual int64_t write(const void* data, int64_t nbBytes) = 0;

 protected:
  IStreamWriter(const IStreamWriter&) = default;
  IStreamWriter(IStreamWriter&&) = default;
  IStreamWriter& operator=(const IStreamWriter&) & = default;
  IStreamWriter& operator=(IStreamWriter&&) & = default;
};

// Gives the bytes of an engine in any order.
class CAMSHAFT_API IStreamReaderV2 : public IVersionedInterface {
 public:
  ~IStreamReaderV2() override = default;
  IStreamReaderV2() = default;
  InterfaceInfo getInterfaceInfo() const noexcept override { return {"IStreamReaderV2", 1, 0}; }

  // Fills up to nbBytes, in host or device memory, and returns how many; -1 on failure.
  virtual int64_t read(void* destination, int64_t nbBytes, cudaStream_t stream) noexcept = 0;
  virtual bool seek(int64_t offset, SeekPosition where) noexcept = 0;

 protected:
  IStreamReaderV2(const IStreamReaderV2&) = default;
  IStreamReaderV2(IStreamReaderV2&&) = default;
  IStreamReaderV2& operator=(const IStreamReaderV2&) & = default;
  IStreamReaderV2& operator=(IStreamReaderV2&&) & = default;
};

// Receives the time of each layer of one run, in execution order. Implemented by the caller; called
// on the thread that runs or reports. Set one profiler per context, or make it thread-safe.
class CAMSHAFT_API IProfiler {
 public:
  virtual void reportLayerTime(const char* layerName, float ms) noexcept = 0;
  virtual ~IProfiler() noexcept = default;
};

// Provides memory for an output whose size is known only while running. Implemented by the caller.
class CAMSHAFT_API IOutputAllocator : public IVersionedInterface {
 public:
  InterfaceInfo getInterfaceInfo() const noexcept override { return {"IOutputAllocator", 1, 0}; }

  // Returns at least `size` bytes (which may be zero) aligned to `alignment`, either currentMemory
  // or other memory, or null to fail the run. Override one of the two: the library calls the
  // second, which lacks noexcept so that overriders may leave it out; it must still not throw.
  virtual void* reallocateOutput(const char* /*tensorName*/, void* /*currentMemory*/,
                                 uint64_t /*size*/, uint64_t /*alignment*/) noexcept {
    return nullptr;
  }
  virtual void* reallocateOutputAsync(const char* tensorName, void* currentMemory, uint64_t size,
                                      uint64_t alignment, cudaStream_t /*stream*/) {
    return reallocateOutput(tensorName, currentMemory, size, alignment);
  }

  // Called once per run, as soon as the output's dimensions are known.
  virtual void notifyShape(const char* tensorName, const Dims& dims) noexcept = 0;
};

// Receives tensors that were marked for debugging, as a run computes them.
class CAMSHAFT_API IDebugListener : public IVersionedInterface {
 public:
  InterfaceInfo getInterfaceInfo() const noexcept override { return {"IDebugListener", 1, 0}; }

  // False fails the run. Lacks noexcept so that overriders may leave it out; it must still not
  // throw.
  virtual bool processDebugTensor(const void* addr, TensorLocation location, DataType type,
                                  const Dims& shape, const char* name, cudaStream_t stream) = 0;
  ~IDebugListener() override = default;
};

}  // namespace v_1_0

using IGpuAsyncAllocator = v_1_0::IGpuAsyncAllocator;

}  // namespace nvinfer1
