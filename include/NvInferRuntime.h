#pragma once

// Run time: load an engine file, inspect it, run it.

#include "NvInferRuntimeBase.h"

namespace nvinfer1 {

class ICudaEngine;
class IExecutionContext;
class IEngineInspector;

// Objects made by the library: neither copied nor moved, ended with `delete`.
class CAMSHAFT_API INoCopy {
 public:
  virtual ~INoCopy() = default;
  INoCopy(const INoCopy&) = delete;
  INoCopy(INoCopy&&) = delete;
  INoCopy& operator=(const INoCopy&) = delete;
  INoCopy& operator=(INoCopy&&) = delete;

 protected:
  INoCopy() = default;
};

// A borrowed array of `count` elements. The values must stay alive and unchanged until the network
// that uses them is built for the last time. count == 0 with null values means "no weights".
class Weights {
 public:
  DataType type;
  const void* values;
  int64_t count;
};

// Bytes owned by the library on the caller's behalf: an engine file, a timing cache.
class CAMSHAFT_API IHostMemory : public INoCopy {
 public:
  virtual void* data() const noexcept = 0;
  virtual std::size_t size() const noexcept = 0;
  virtual DataType type() const noexcept = 0;
};

enum class TensorLocation : int32_t {
  kDEVICE = 0,
  kHOST = 1,
};
template <>
constexpr int32_t EnumMax<TensorLocation>() noexcept {
  return 2;
}

enum class DeviceType : int32_t {
  kGPU = 0,
  kDLA = 1,  // known by name; no backend drives it
  kCPU = 2,  // Camshaft's own value: tensor addresses are host pointers, the stream is null
};
template <>
constexpr int32_t EnumMax<DeviceType>() noexcept {
  return 3;
}

// How the elements of a tensor lie in memory. Engines built today use kLINEAR (row-major) for all
// inputs and outputs.
enum class TensorFormat : int32_t {
  kLINEAR = 0,
  kCHW2 = 1,
  kHWC8 = 2,
  kCHW4 = 3,
  kCHW16 = 4,
  kCHW32 = 5,
  kDHWC8 = 6,
  kCDHW32 = 7,
  kHWC = 8,
  kDLA_LINEAR = 9,
  kDLA_HWC4 = 10,
  kHWC16 = 11,
  kDHWC = 12,
};
template <>
constexpr int32_t EnumMax<TensorFormat>() noexcept {
  return 13;
}

// Receives messages. Implemented by the caller; log() may be called from several threads at once
// and must not call back into the library. The message is valid during the call only.
class CAMSHAFT_API ILogger {
 public:
  enum class Severity : int32_t {
    kINTERNAL_ERROR = 0,  // a bug in the library
    kERROR = 1,           // the call failed
    kWARNING = 2,         // the call succeeded, though perhaps not as wished
    kINFO = 3,
    kVERBOSE = 4,
  };

  virtual void log(Severity severity, const AsciiChar* msg) noexcept = 0;
  virtual ~ILogger() = default;

 protected:
  ILogger() = default;
  ILogger(const ILogger&) = default;
  ILogger(ILogger&&) = default;
  ILogger& operator=(const ILogger&) & = default;
  ILogger& operator=(ILogger&&) & = default;
};
template <>
constexpr int32_t EnumMax<ILogger::Severity>() noexcept {
  return 5;
}

namespace v_1_0 {

// Receives the time of each layer of one run, in execution order. Implemented by the caller; called
// on the thread that runs or reports. Set one profiler per context, or make it thread-safe.
class CAMSHAFT_API IProfiler {
 public:
  virtual void reportLayerTime(const char* layerName, float ms) noexcept = 0;
  virtual ~IProfiler() noexcept = default;
};

// How memory from an IGpuAllocator will be used; none is asked for today.
enum class AllocatorFlag : int32_t {
  kRESIZABLE = 0,  // reallocate() may be called on it
};
using AllocatorFlags = uint32_t;

// Provides device memory in place of the library: weights, scratch memory of contexts and buffers
// whose size only a run decides. Implemented by the caller; called from any thread. Override the
// first pair or the second, which the library calls: its defaults use the first. The stream is the
// one the memory is used on, null where no work is queued yet.
class CAMSHAFT_API IGpuAllocator : public IVersionedInterface {
 public:
  InterfaceInfo getInterfaceInfo() const noexcept override { return {"IGpuAllocator", 1, 0}; }

  // At least `size` bytes on the current device, aligned to `alignment` (a power of two), or null.
  virtual void* allocate(const uint64_t size, const uint64_t alignment,
                         const AllocatorFlags flags) noexcept = 0;
  virtual bool deallocate(void* const memory) noexcept = 0;
  virtual void* reallocate(void* const /*memory*/, uint64_t /*alignment*/,
                           uint64_t /*newSize*/) noexcept {
    return nullptr;
  }
  virtual void* allocateAsync(const uint64_t size, const uint64_t alignment,
                              const AllocatorFlags flags, cudaStream_t /*stream*/) noexcept {
    return allocate(size, alignment, flags);
  }
  virtual bool deallocateAsync(void* const memory, cudaStream_t /*stream*/) noexcept {
    return deallocate(memory);
  }
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

}  // namespace v_1_0
using IProfiler = v_1_0::IProfiler;
using IOutputAllocator = v_1_0::IOutputAllocator;
using IGpuAllocator = v_1_0::IGpuAllocator;
using AllocatorFlag = v_1_0::AllocatorFlag;
using AllocatorFlags = v_1_0::AllocatorFlags;

// Loads engine files. Methods may be called from several threads at once, setters excepted. The
// engines it made may outlive it.
class CAMSHAFT_API IRuntime : public INoCopy {
 public:
  virtual void setErrorRecorder(IErrorRecorder* recorder) noexcept = 0;
  virtual IErrorRecorder* getErrorRecorder() const noexcept = 0;
  virtual ILogger* getLogger() const noexcept = 0;

  // Reads the `size` bytes at `blob`, which may be freed afterwards. Null when they are damaged,
  // are not an engine file, or were built for another machine; the message says which.
  virtual ICudaEngine* deserializeCudaEngine(const void* blob, std::size_t size) noexcept = 0;
  // Camshaft's own: the same from a file, which is mapped and not copied, so that engines load
  // faster and processes share their weights. The file may be replaced while the engine lives, and
  // must not be changed in place; a pipe is read to its end.
  virtual ICudaEngine* deserializeCudaEngineFromFile(const char* path) noexcept = 0;

  // Where engines loaded from now on get device memory; null: from the driver. Borrowed: it must
  // outlive them. CPU engines do not use it.
  virtual void setGpuAllocator(IGpuAllocator* allocator) noexcept = 0;

  // Most threads, the caller's included, that engines loaded from now on use to run; at least 1.
  virtual bool setMaxThreads(int32_t maxThreads) noexcept = 0;
  virtual int32_t getMaxThreads() const noexcept = 0;
};

enum class OptProfileSelector : int32_t {
  kMIN = 0,
  kOPT = 1,  // what kernels are chosen for
  kMAX = 2,  // what memory is planned for
};
template <>
constexpr int32_t EnumMax<OptProfileSelector>() noexcept {
  return 3;
}

// The range of input dimensions that an engine accepts. Owned by the builder that made it. A
// setter returns false on values that are absurd on their own; whether they fit the network is
// checked by the build.
class CAMSHAFT_API IOptimizationProfile : public INoCopy {
 public:
  virtual bool setDimensions(const char* inputName, OptProfileSelector select,
                             const Dims& dims) noexcept = 0;
  // nbDims == -1 where nothing was set.
  virtual Dims getDimensions(const char* inputName, OptProfileSelector select) const noexcept = 0;

  // Range of the values of a shape input (an input whose values decide dimensions).
  virtual bool setShapeValues(const char* inputName, OptProfileSelector select,
                              const int32_t* values, int32_t nbValues) noexcept = 0;
  virtual bool setShapeValuesV2(const char* inputName, OptProfileSelector select,
                                const int64_t* values, int32_t nbValues) noexcept = 0;
  // -1 where nothing was set.
  virtual int32_t getNbShapeValues(const char* inputName) const noexcept = 0;
  // Null where nothing was set.
  virtual const int64_t* getShapeValuesV2(const char* inputName,
                                          OptProfileSelector select) const noexcept = 0;

  // Whether every input that was given anything has min <= opt <= max in each place.
  virtual bool isValid() const noexcept = 0;

 protected:
  ~IOptimizationProfile() override = default;
};

// How much the engine remembers about its layers for the inspector and profiler.
enum class ProfilingVerbosity : int32_t {
  kLAYER_NAMES_ONLY = 0,
  kNONE = 1,
  kDETAILED = 2,
};
template <>
constexpr int32_t EnumMax<ProfilingVerbosity>() noexcept {
  return 3;
}

// Who allocates a context's scratch memory, and when.
enum class ExecutionContextAllocationStrategy : int32_t {
  kSTATIC = 0,             // grows when a profile needs more, never shrinks
  kON_PROFILE_CHANGE = 1,  // the same
  kUSER_MANAGED = 2,       // by the caller, who gives it with setDeviceMemoryV2 before running
};
template <>
constexpr int32_t EnumMax<ExecutionContextAllocationStrategy>() noexcept {
  return 3;
}

// Camshaft's own: memory, streams and copies of the device an engine runs on, for programs that do
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

// A built model. Immutable, so all methods but the setters may be called from several threads at
// once; contexts and inspectors may outlive it. Tensor names are those of the network's inputs and
// outputs; with an unknown name a method reports the error and returns the "no" of its type (-1,
// false, null, nbDims == -1, TensorIOMode::kNONE, DataType::kFLOAT, TensorFormat::kLINEAR).
class CAMSHAFT_API ICudaEngine : public INoCopy {
 public:
  virtual const char* getName() const noexcept = 0;
  virtual int32_t getNbLayers() const noexcept = 0;
  // A copy of the engine file.
  virtual IHostMemory* serialize() const noexcept = 0;
  virtual IExecutionContext* createExecutionContext(
      ExecutionContextAllocationStrategy strategy =
          ExecutionContextAllocationStrategy::kSTATIC) noexcept = 0;
  virtual IEngineInspector* createEngineInspector() const noexcept = 0;
  virtual ProfilingVerbosity getProfilingVerbosity() const noexcept = 0;
  virtual void setErrorRecorder(IErrorRecorder* recorder) noexcept = 0;
  virtual IErrorRecorder* getErrorRecorder() const noexcept = 0;
  bool hasImplicitBatchDimension() const noexcept { return false; }

  // Inputs first, then outputs, each in network order. This order is also that of executeV2.
  virtual int32_t getNbIOTensors() const noexcept = 0;
  virtual const char* getIOTensorName(int32_t index) const noexcept = 0;
  virtual TensorIOMode getTensorIOMode(const char* tensorName) const noexcept = 0;
  // -1 for each dimension known only at run time.
  virtual Dims getTensorShape(const char* tensorName) const noexcept = 0;
  virtual DataType getTensorDataType(const char* tensorName) const noexcept = 0;
  // Camshaft's own: the device the engine runs on, owned by the engine; null for a CPU engine.
  virtual IDevice* getDevice() const noexcept = 0;
  // Where the tensor's address must point. kHOST for every tensor of a CPU engine, and for inputs
  // whose values decide shapes.
  virtual TensorLocation getTensorLocation(const char* tensorName) const noexcept = 0;
  // Whether the tensor is an input whose values decide dimensions, or an output that holds some.
  virtual bool isShapeInferenceIO(const char* tensorName) const noexcept = 0;

  // Memory layout. The form without a profile speaks of profile 0. Byte, component and dimension
  // numbers describe vectorised formats and are -1 for kLINEAR.
  virtual int32_t getTensorBytesPerComponent(const char* tensorName) const noexcept = 0;
  virtual int32_t getTensorBytesPerComponent(const char* tensorName,
                                             int32_t profileIndex) const noexcept = 0;
  virtual int32_t getTensorComponentsPerElement(const char* tensorName) const noexcept = 0;
  virtual int32_t getTensorComponentsPerElement(const char* tensorName,
                                                int32_t profileIndex) const noexcept = 0;
  virtual TensorFormat getTensorFormat(const char* tensorName) const noexcept = 0;
  virtual TensorFormat getTensorFormat(const char* tensorName,
                                       int32_t profileIndex) const noexcept = 0;
  virtual const char* getTensorFormatDesc(const char* tensorName) const noexcept = 0;
  virtual const char* getTensorFormatDesc(const char* tensorName,
                                          int32_t profileIndex) const noexcept = 0;
  virtual int32_t getTensorVectorizedDim(const char* tensorName) const noexcept = 0;
  virtual int32_t getTensorVectorizedDim(const char* tensorName,
                                         int32_t profileIndex) const noexcept = 0;

  // At least 1: an engine built without profiles has one, with bounds chosen by the builder.
  virtual int32_t getNbOptimizationProfiles() const noexcept = 0;
  virtual Dims getProfileShape(const char* tensorName, int32_t profileIndex,
                               OptProfileSelector select) const noexcept = 0;
  // Values of a shape input; null for any other tensor, or when the element type is not int32
  // (first form) or int64 (second form).
  virtual const int32_t* getProfileTensorValues(const char* tensorName, int32_t profileIndex,
                                                OptProfileSelector select) const noexcept = 0;
  virtual const int64_t* getProfileTensorValuesV2(const char* tensorName, int32_t profileIndex,
                                                  OptProfileSelector select) const noexcept = 0;

  // Bytes of scratch memory one context needs: for the greediest profile, or for the one named.
  virtual size_t getDeviceMemorySize() const noexcept = 0;
  virtual int64_t getDeviceMemorySizeV2() const noexcept = 0;
  virtual size_t getDeviceMemorySizeForProfile(int32_t profileIndex) const noexcept = 0;
  virtual int64_t getDeviceMemorySizeForProfileV2(int32_t profileIndex) const noexcept = 0;
};

// One run of an engine at a time, with its own scratch memory, shapes and addresses. A context is
// used by one thread at a time; contexts of one engine are independent of each other.
class CAMSHAFT_API IExecutionContext : public INoCopy {
 public:
  // As it was made by; another object for the same engine once the caller has ended that.
  virtual const ICudaEngine& getEngine() const noexcept = 0;
  virtual void setName(const char* name) noexcept = 0;
  virtual const char* getName() const noexcept = 0;
  virtual void setErrorRecorder(IErrorRecorder* recorder) noexcept = 0;
  virtual IErrorRecorder* getErrorRecorder() const noexcept = 0;

  // When on, each layer finishes before the next starts, so that an error names its layer.
  virtual void setDebugSync(bool sync) noexcept = 0;
  virtual bool getDebugSync() const noexcept = 0;

  // A new context uses profile 0. Changing the profile forgets the input shapes.
  virtual bool setOptimizationProfileAsync(int32_t profileIndex, cudaStream_t stream) noexcept = 0;
  virtual int32_t getOptimizationProfile() const noexcept = 0;

  // False, with the range in the message, when dims are outside the profile. Inputs of fixed shape
  // need no call.
  virtual bool setInputShape(const char* tensorName, const Dims& dims) noexcept = 0;
  // -1 for each dimension that still depends on an unset input shape or on data.
  virtual Dims getTensorShape(const char* tensorName) const noexcept = 0;
  // In elements; -1 where a stride depends on an unknown dimension.
  virtual Dims getTensorStrides(const char* tensorName) const noexcept = 0;
  virtual bool allInputDimensionsSpecified() const noexcept = 0;
  // As above, and every shape input has an address to read its values from.
  virtual bool allInputShapesSpecified() const noexcept = 0;
  // Returns how many inputs still want a shape or address, and up to nbMaxNames of their names; 0
  // when all output shapes that can be known are known; -1 on error.
  virtual int32_t inferShapes(int32_t nbMaxNames, const char** tensorNames) noexcept = 0;

  // Addresses are borrowed and must be valid while the context runs. Host pointers on a CPU.
  virtual bool setTensorAddress(const char* tensorName, void* data) noexcept = 0;
  virtual const void* getTensorAddress(const char* tensorName) const noexcept = 0;
  virtual bool setInputTensorAddress(const char* tensorName, const void* data) noexcept = 0;
  virtual bool setOutputTensorAddress(const char* tensorName, void* data) noexcept = 0;
  // Null for an input.
  virtual void* getOutputTensorAddress(const char* tensorName) const noexcept = 0;

  // An allocator takes precedence over an output's address, which it is given as currentMemory.
  // Null removes it.
  virtual bool setOutputAllocator(const char* tensorName,
                                  IOutputAllocator* outputAllocator) noexcept = 0;
  virtual IOutputAllocator* getOutputAllocator(const char* tensorName) const noexcept = 0;
  // Upper bound in bytes for the current input shapes, or for all shapes of the profile where the
  // size depends on data; -1 when there is none.
  virtual int64_t getMaxOutputSize(const char* tensorName) const noexcept = 0;

  // Scratch memory of a context created with kUSER_MANAGED, at least getDeviceMemorySizeV2() bytes
  // that nobody else uses while the context runs; the first form trusts that it is enough.
  virtual void setDeviceMemory(void* memory) noexcept = 0;
  virtual void setDeviceMemoryV2(void* memory, int64_t size) noexcept = 0;
  // An event that every enqueueV3 records on its stream when the inputs may be overwritten; null
  // to stop that. Borrowed.
  virtual bool setInputConsumedEvent(cudaEvent_t event) noexcept = 0;
  virtual cudaEvent_t getInputConsumedEvent() const noexcept = 0;

  // Runs with the addresses set so far. On a CPU the results are there when it returns; on a GPU
  // when the stream gets there. False, with the reason reported, leaves the context as it was, and
  // nothing in the stream that uses its addresses.
  virtual bool enqueueV3(cudaStream_t stream) noexcept = 0;
  // Runs with these addresses, in the order of getIOTensorName, and waits for the results. Those
  // set before stay set.
  virtual bool executeV2(void* const* bindings) noexcept = 0;

  virtual void setProfiler(IProfiler* profiler) noexcept = 0;
  virtual IProfiler* getProfiler() const noexcept = 0;
  // On (the default): every enqueueV3 reports to the profiler. Off: reportToProfiler() reports the
  // last run; it returns false when there was none.
  virtual void setEnqueueEmitsProfile(bool enqueueEmitsProfile) noexcept = 0;
  virtual bool getEnqueueEmitsProfile() const noexcept = 0;
  virtual bool reportToProfiler() const noexcept = 0;
};

enum class LayerInformationFormat : int32_t {
  kONELINE = 0,
  kJSON = 1,
};
template <>
constexpr int32_t EnumMax<LayerInformationFormat>() noexcept {
  return 2;
}

// Tells what an engine is made of: per layer its origin, kernel, why it was chosen, its time and
// the alternatives tried.
// A returned text lives until the next call on the same inspector; one thread at a time uses it.
class CAMSHAFT_API IEngineInspector : public INoCopy {
 public:
  // With a context of the same engine, dimensions are shown as they are for its current input
  // shapes, until it ends.
  virtual bool setExecutionContext(const IExecutionContext* context) noexcept = 0;
  virtual const IExecutionContext* getExecutionContext() const noexcept = 0;
  virtual const char* getLayerInformation(int32_t layerIndex,
                                          LayerInformationFormat format) const noexcept = 0;
  virtual const char* getEngineInformation(LayerInformationFormat format) const noexcept = 0;
  virtual void setErrorRecorder(IErrorRecorder* recorder) noexcept = 0;
  virtual IErrorRecorder* getErrorRecorder() const noexcept = 0;
};

}  // namespace nvinfer1

extern "C" CAMSHAFT_API void* createInferRuntime_INTERNAL(void* logger, int32_t version) noexcept;

namespace nvinfer1 {
namespace {

// Null when the headers and the loaded library disagree on the API version.
inline IRuntime* createInferRuntime(ILogger& logger) noexcept {
  return static_cast<IRuntime*>(createInferRuntime_INTERNAL(&logger, NV_TENSORRT_VERSION));
}

}  // namespace
}  // namespace nvinfer1
