// IExecutionContext over a Context.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "api/allocator.h"
#include "api/debug_tensors.h"
#include "api/engine.h"
#include "api/engine_config.h"
#include "api/implements.h"
#include "api/report.h"
#include "runtime/context.h"

namespace camshaft::api {

class ExecutionContext final : public Implements<nvinfer1::IExecutionContext> {
 public:
  ExecutionContext(const Engine& engine, std::shared_ptr<Context> context,
                   nvinfer1::ExecutionContextAllocationStrategy strategy, const Reporter& reporter);

  const std::shared_ptr<Context>& context() const { return context_; }

  nvinfer1::IExecutionContext* getPImpl() noexcept override { return this; }
  const nvinfer1::ICudaEngine& getEngine() const noexcept override {
    const Engine* engine = engine_.get();
    return engine ? *engine : *standIn_;
  }
  void setName(const char* name) noexcept override;
  const char* getName() const noexcept override { return name_.c_str(); }
  void setErrorRecorder(nvinfer1::IErrorRecorder* recorder) noexcept override {
    reporter_.setRecorder(recorder);
  }
  nvinfer1::IErrorRecorder* getErrorRecorder() const noexcept override {
    return reporter_.recorder();
  }
  void setDebugSync(bool sync) noexcept override { debugSync_ = sync; }
  bool getDebugSync() const noexcept override { return debugSync_; }

  bool setOptimizationProfileAsync(int32_t profile, cudaStream_t stream) noexcept override;
  int32_t getOptimizationProfile() const noexcept override { return context_->profile(); }

  bool setInputShape(const char* name, const nvinfer1::Dims& dims) noexcept override;
  nvinfer1::Dims getTensorShape(const char* name) const noexcept override;
  nvinfer1::Dims getTensorStrides(const char* name) const noexcept override;
  bool allInputDimensionsSpecified() const noexcept override { return context_->allShapesSet(); }
  bool allInputShapesSpecified() const noexcept override;
  int32_t inferShapes(int32_t maxNames, const char** names) noexcept override;

  bool setTensorAddress(const char* name, void* data) noexcept override;
  const void* getTensorAddress(const char* name) const noexcept override;
  bool setInputTensorAddress(const char* name, const void* data) noexcept override;
  bool setOutputTensorAddress(const char* name, void* data) noexcept override;
  void* getOutputTensorAddress(const char* name) const noexcept override;
  bool setOutputAllocator(const char* name,
                          nvinfer1::IOutputAllocator* allocator) noexcept override;
  nvinfer1::IOutputAllocator* getOutputAllocator(const char* name) noexcept override;
  int64_t getMaxOutputSize(const char* name) const noexcept override;

  void setDeviceMemory(void* memory) noexcept override;
  void setDeviceMemoryV2(void* memory, int64_t size) noexcept override;
  size_t updateDeviceMemorySizeForShapes() noexcept override;
  nvinfer1::IRuntimeConfig* getRuntimeConfig() const noexcept override { return &config_; }
  bool setInputConsumedEvent(cudaEvent_t event) noexcept override;
  cudaEvent_t getInputConsumedEvent() const noexcept override { return inputConsumed_; }

  bool enqueueV3(cudaStream_t stream) noexcept override;
  bool executeV2(void* const* bindings) noexcept override;

  void setProfiler(nvinfer1::IProfiler* profiler) noexcept override;
  nvinfer1::IProfiler* getProfiler() const noexcept override { return profiler_; }
  void setEnqueueEmitsProfile(bool emits) noexcept override { emitsProfile_ = emits; }
  bool getEnqueueEmitsProfile() const noexcept override { return emitsProfile_; }
  bool reportToProfiler() const noexcept override;

  // No part of the L2 cache is set aside, which keeps every limit.
  void setPersistentCacheLimit(size_t size) noexcept override { persistentCacheLimit_ = size; }
  size_t getPersistentCacheLimit() const noexcept override { return persistentCacheLimit_; }
  void setAuxStreams(cudaStream_t*, int32_t) noexcept override {}  // an engine needs none

  bool setDebugListener(nvinfer1::IDebugListener* listener) noexcept override;
  nvinfer1::IDebugListener* getDebugListener() noexcept override { return debug_.listener(); }
  bool setTensorDebugState(const char* name, bool flag) noexcept override;
  bool getDebugState(const char* name) const noexcept override { return debug_.state(name); }
  bool setAllTensorsDebugState(bool flag) noexcept override;
  bool setUnfusedTensorsDebugState(bool flag) noexcept override;
  bool getUnfusedTensorsDebugState() const noexcept override { return debug_.unfused(); }

  // For buffers whose size only a run knows, of engines that run on a device.
  bool setTemporaryStorageAllocator(nvinfer1::IGpuAllocator* allocator) noexcept override;
  nvinfer1::IGpuAllocator* getTemporaryStorageAllocator() const noexcept override {
    return temporaryAllocator_;
  }
  bool setNvtxVerbosity(nvinfer1::ProfilingVerbosity verbosity) noexcept override;
  nvinfer1::ProfilingVerbosity getNvtxVerbosity() const noexcept override { return nvtx_; }
  // Collective layers run on one rank, which has nobody to talk to.
  bool setCommunicator(void*) noexcept override { return true; }

 private:
  const Plan& plan() const { return context_->engine().plan(); }
  bool isMissing(size_t input) const;  // its shape, or where its values are
  void writeShapeOutputs() const;
  void setRanges(nvinfer1::ProfilingVerbosity verbosity);
  int requireOutput(const char* name) const;
  void requireInProfile(const IoRef& io, const std::vector<int64_t>& dims) const;
  std::vector<int64_t> storedShape(const IoRef& io) const;  // -1 for what is not known yet
  void run(cudaStream_t stream);

  Link<Engine> engine_;
  std::unique_ptr<const Engine> standIn_;  // for the engine, once the caller has ended it
  // Before the context, whose memory they give back.
  nvinfer1::IGpuAllocator* temporaryAllocator_ = nullptr;
  std::unique_ptr<AllocatorDevice> temporaryDevice_;
  std::shared_ptr<Context> context_;
  Reporter reporter_;
  DebugTensors debug_;
  mutable RuntimeConfig config_;
  std::string name_;
  bool debugSync_ = false;
  cudaEvent_t inputConsumed_ = nullptr;
  cudaStream_t stream_ = nullptr;  // of the run
  nvinfer1::ProfilingVerbosity nvtx_;
  nvinfer1::IProfiler* profiler_ = nullptr;
  bool emitsProfile_ = true;
  size_t persistentCacheLimit_ = 0;
  std::vector<std::pair<std::string, float>> lastTimes_;  // of the last run, until reported
  std::vector<nvinfer1::IOutputAllocator*> allocators_;
};

}  // namespace camshaft::api
