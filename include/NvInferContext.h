#pragma once

// Running an engine, and telling what it is made of.

#include "NvInferEngine.h"

namespace nvinfer1 {

// One run of an engine at a time, with its own scratch memory, shapes and addresses. A context is
// used by one thread at a time; contexts of one engine are independent of each other.
class CAMSHAFT_API IExecutionContext : public INoCopy {
 public:
  ~IExecutionContext() noexcept override = default;

  // As it was made by; another object for the same engine once the caller has ended that.
  const ICudaEngine& getEngine() const noexcept { return mImpl->getEngine(); }
  void setName(const char* name) noexcept { mImpl->setName(name); }
  const char* getName() const noexcept { return mImpl->getName(); }
  void setErrorRecorder(IErrorRecorder* recorder) noexcept { mImpl->setErrorRecorder(recorder); }
  IErrorRecorder* getErrorRecorder() const noexcept { return mImpl->getErrorRecorder(); }

  // When on, each layer finishes before the next starts, so that an error names its layer.
  void setDebugSync(bool sync) noexcept { mImpl->setDebugSync(sync); }
  bool getDebugSync() const noexcept { return mImpl->getDebugSync(); }

  // A new context uses profile 0. Changing the profile forgets the input shapes.
  bool setOptimizationProfileAsync(int32_t profileIndex, cudaStream_t stream) noexcept {
    return mImpl->setOptimizationProfileAsync(profileIndex, stream);
  }
  int32_t getOptimizationProfile() const noexcept { return mImpl->getOptimizationProfile(); }

  // False, with the range in the message, when dims are outside the profile. Inputs of fixed shape
  // need no call.
  bool setInputShape(const char* tensorName, const Dims& dims) noexcept {
    return mImpl->setInputShape(tensorName, dims);
  }
  // -1 for each dimension that still depends on an unset input shape or on data.
  Dims getTensorShape(const char* tensorName) const noexcept {
    return mImpl->getTensorShape(tensorName);
  }
  // In elements; -1 where a stride depends on an unknown dimension.
  Dims getTensorStrides(const char* tensorName) const noexcept {
    return mImpl->getTensorStrides(tensorName);
  }
  bool allInputDimensionsSpecified() const noexcept { return mImpl->allInputDimensionsSpecified(); }
  // As above, and every shape input has an address to read its values from.
  bool allInputShapesSpecified() const noexcept { return mImpl->allInputShapesSpecified(); }
  // Returns how many inputs still want a shape or address, and up to nbMaxNames of their names; 0
  // when all output shapes that can be known are known; -1 on error.
  int32_t inferShapes(int32_t nbMaxNames, const char** tensorNames) noexcept {
    return mImpl->inferShapes(nbMaxNames, tensorNames);
  }

  // Addresses are borrowed and must be valid while the context runs. Host pointers on a CPU.
  bool setTensorAddress(const char* tensorName, void* data) noexcept {
    return mImpl->setTensorAddress(tensorName, data);
  }
  const void* getTensorAddress(const char* tensorName) const noexcept {
    return mImpl->getTensorAddress(tensorName);
  }
  bool setInputTensorAddress(const char* tensorName, const void* data) noexcept {
    return mImpl->setInputTensorAddress(tensorName, data);
  }
  bool setOutputTensorAddress(const char* tensorName, void* data) noexcept {
    return mImpl->setOutputTensorAddress(tensorName, data);
  }
  // Null for an input.
  void* getOutputTensorAddress(const char* tensorName) const noexcept {
    return mImpl->getOutputTensorAddress(tensorName);
  }

  // An allocator takes precedence over an output's address, which it is given as currentMemory.
  // Null removes it.
  bool setOutputAllocator(const char* tensorName, IOutputAllocator* outputAllocator) noexcept {
    return mImpl->setOutputAllocator(tensorName, outputAllocator);
  }
  IOutputAllocator* getOutputAllocator(const char* tensorName) const noexcept {
    return mImpl->getOutputAllocator(tensorName);
  }
  // Upper bound in bytes for the current input shapes, or for all shapes of the profile where the
  // size depends on data; -1 when there is none.
  int64_t getMaxOutputSize(const char* tensorName) const noexcept {
    return mImpl->getMaxOutputSize(tensorName);
  }

  // Scratch memory of a context created with kUSER_MANAGED, at least getDeviceMemorySizeV2() bytes
  // that nobody else uses while the context runs; the first form trusts that it is enough.
  void setDeviceMemory(void* memory) noexcept { mImpl->setDeviceMemory(memory); }
  void setDeviceMemoryV2(void* memory, int64_t size) noexcept {
    mImpl->setDeviceMemoryV2(memory, size);
  }
  // An event that every enqueueV3 records on its stream when the inputs may be overwritten; null
  // to stop that. Borrowed.
  bool setInputConsumedEvent(cudaEvent_t event) noexcept {
    return mImpl->setInputConsumedEvent(event);
  }
  cudaEvent_t getInputConsumedEvent() const noexcept { return mImpl->getInputConsumedEvent(); }

  // Runs with the addresses set so far. On a CPU the results are there when it returns; on a GPU
  // when the stream gets there. False, with the reason reported, leaves the context as it was, and
  // nothing in the stream that uses its addresses.
  bool enqueueV3(cudaStream_t stream) noexcept { return mImpl->enqueueV3(stream); }
  // Runs with these addresses, in the order of getIOTensorName, and waits for the results. Those
  // set before stay set.
  bool executeV2(void* const* bindings) noexcept { return mImpl->executeV2(bindings); }

  void setProfiler(IProfiler* profiler) noexcept { mImpl->setProfiler(profiler); }
  IProfiler* getProfiler() const noexcept { return mImpl->getProfiler(); }
  // On (the default): every enqueueV3 reports to the profiler. Off: reportToProfiler() reports the
  // last run; it returns false when there was none.
  void setEnqueueEmitsProfile(bool enqueueEmitsProfile) noexcept {
    mImpl->setEnqueueEmitsProfile(enqueueEmitsProfile);
  }
  bool getEnqueueEmitsProfile() const noexcept { return mImpl->getEnqueueEmitsProfile(); }
  bool reportToProfiler() const noexcept { return mImpl->reportToProfiler(); }

  // Bytes of scratch memory needed for the current input shapes, for contexts created with
  // kUSER_MANAGED; 0 on failure.
  size_t updateDeviceMemorySizeForShapes() noexcept {
    return mImpl->updateDeviceMemorySizeForShapes();
  }
  // For memory whose size only a run knows, on engines for a GPU; given back when the run returns.
  bool setTemporaryStorageAllocator(IGpuAllocator* allocator) noexcept {
    return mImpl->setTemporaryStorageAllocator(allocator);
  }
  IGpuAllocator* getTemporaryStorageAllocator() const noexcept {
    return mImpl->getTemporaryStorageAllocator();
  }
  // Of what the context sets aside of the L2 cache, which is nothing.
  void setPersistentCacheLimit(size_t size) noexcept { mImpl->setPersistentCacheLimit(size); }
  size_t getPersistentCacheLimit() const noexcept { return mImpl->getPersistentCacheLimit(); }
  // Of the ranges around layers that are launched one by one, which NVIDIA's profilers show. At
  // most that of the engine, which it is at first.
  bool setNvtxVerbosity(ProfilingVerbosity verbosity) noexcept {
    return mImpl->setNvtxVerbosity(verbosity);
  }
  ProfilingVerbosity getNvtxVerbosity() const noexcept { return mImpl->getNvtxVerbosity(); }
  // Ignored: layers run side by side within the one stream.
  void setAuxStreams(cudaStream_t* auxStreams, int32_t nbStreams) noexcept {
    mImpl->setAuxStreams(auxStreams, nbStreams);
  }
  // Debug tensors: who gets them, and which are given; at first none is. The listener is borrowed
  // and called within enqueueV3, in a loop once per iteration; false from it ends the run.
  bool setDebugListener(IDebugListener* listener) noexcept {
    return mImpl->setDebugListener(listener);
  }
  IDebugListener* getDebugListener() noexcept { return mImpl->getDebugListener(); }
  bool setTensorDebugState(const char* name, bool flag) noexcept {
    return mImpl->setTensorDebugState(name, flag);
  }
  bool getDebugState(const char* name) const noexcept { return mImpl->getDebugState(name); }
  // As the context was made; belongs to it.
  IRuntimeConfig* getRuntimeConfig() const noexcept { return mImpl->getRuntimeConfig(); }
  bool setAllTensorsDebugState(bool flag) noexcept { return mImpl->setAllTensorsDebugState(flag); }
  bool setUnfusedTensorsDebugState(bool flag) noexcept {
    return mImpl->setUnfusedTensorsDebugState(flag);
  }
  bool getUnfusedTensorsDebugState() const noexcept { return mImpl->getUnfusedTensorsDebugState(); }
  // For layers that work on several devices. There is one, so any will do.
  bool setCommunicator(void* communicator) noexcept { return mImpl->setCommunicator(communicator); }

 protected:
  apiv::VExecutionContext* mImpl{};
};

// Tells what an engine is made of: per layer its origin, kernel, why it was chosen, its time and
// the alternatives tried.
// A returned text lives until the next call on the same inspector; one thread at a time uses it.
class CAMSHAFT_API IEngineInspector : public INoCopy {
 public:
  ~IEngineInspector() noexcept override = default;

  // With a context of the same engine, dimensions are shown as they are for its current input
  // shapes, until it ends.
  bool setExecutionContext(const IExecutionContext* context) noexcept {
    return mImpl->setExecutionContext(context);
  }
  const IExecutionContext* getExecutionContext() const noexcept {
    return mImpl->getExecutionContext();
  }
  const char* getLayerInformation(int32_t layerIndex,
                                  LayerInformationFormat format) const noexcept {
    return mImpl->getLayerInformation(layerIndex, format);
  }
  const char* getEngineInformation(LayerInformationFormat format) const noexcept {
    return mImpl->getEngineInformation(format);
  }
  void setErrorRecorder(IErrorRecorder* recorder) noexcept { mImpl->setErrorRecorder(recorder); }
  IErrorRecorder* getErrorRecorder() const noexcept { return mImpl->getErrorRecorder(); }

 protected:
  apiv::VEngineInspector* mImpl{};
};

}  // namespace nvinfer1
