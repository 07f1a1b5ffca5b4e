// IExecutionContext over a Context.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "api/engine.h"
#include "api/report.h"
#include "runtime/context.h"

namespace camshaft::api {

class ExecutionContext : public nvinfer1::IExecutionContext {
 public:
  ExecutionContext(const Engine& engine, std::shared_ptr<Context> context,
                   const Reporter& reporter);

  const std::shared_ptr<Context>& context() const { return context_; }

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
  bool allInputShapesSpecified() const noexcept override { return context_->allShapesSet(); }
  int32_t inferShapes(int32_t maxNames, const char** names) noexcept override;

  bool setTensorAddress(const char* name, void* data) noexcept override;
  const void* getTensorAddress(const char* name) const noexcept override;
  bool setInputTensorAddress(const char* name, const void* data) noexcept override;
  bool setOutputTensorAddress(const char* name, void* data) noexcept override;
  void* getOutputTensorAddress(const char* name) const noexcept override;
  bool setOutputAllocator(const char* name,
                          nvinfer1::IOutputAllocator* allocator) noexcept override;
  nvinfer1::IOutputAllocator* getOutputAllocator(const char* name) const noexcept override;
  int64_t getMaxOutputSize(const char* name) const noexcept override;

  void setDeviceMemory(void* memory) noexcept override;
  void setDeviceMemoryV2(void* memory, int64_t size) noexcept override;
  bool setInputConsumedEvent(cudaEvent_t event) noexcept override;
  cudaEvent_t getInputConsumedEvent() const noexcept override { return inputConsumed_; }

  bool enqueueV3(cudaStream_t stream) noexcept override;
  bool executeV2(void* const* bindings) noexcept override;

  void setProfiler(nvinfer1::IProfiler* profiler) noexcept override;
  nvinfer1::IProfiler* getProfiler() const noexcept override { return profiler_; }
  void setEnqueueEmitsProfile(bool emits) noexcept override { emitsProfile_ = emits; }
  bool getEnqueueEmitsProfile() const noexcept override { return emitsProfile_; }
  bool reportToProfiler() const noexcept override;

 private:
  const Plan& plan() const { return context_->engine().plan(); }
  int requireOutput(const char* name) const;
  void run(cudaStream_t stream);

  Link<Engine> engine_;
  std::unique_ptr<const Engine> standIn_;  // for the engine, once the caller has ended it
  std::shared_ptr<Context> context_;
  Reporter reporter_;
  std::string name_;
  bool debugSync_ = false;
  cudaEvent_t inputConsumed_ = nullptr;
  nvinfer1::IProfiler* profiler_ = nullptr;
  bool emitsProfile_ = true;
  std::vector<std::pair<std::string, float>> lastTimes_;  // of the last run, until reported
  std::vector<nvinfer1::IOutputAllocator*> allocators_;
};

}  // namespace camshaft::api
