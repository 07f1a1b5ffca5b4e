// ICudaEngine over a loaded engine.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "api/device.h"
#include "api/implements.h"
#include "api/link.h"
#include "api/report.h"
#include "runtime/loaded_engine.h"
#include "support/thread_pool.h"

namespace camshaft::api {

// A tensor of the engine by the caller's name: an input or an output.
struct IoRef {
  const IoTensor* tensor = nullptr;
  int index = -1;
  bool isInput = false;
  explicit operator bool() const { return tensor != nullptr; }
};
IoRef findIo(const Plan& plan, const char* name);
// Reports "'x' is no input or output of the engine" with the nearest name.
IoRef requireIo(const Plan& plan, const char* name);

// The libraries whose kernels builds try.
constexpr nvinfer1::TacticSources kAllTacticSources =
    (1u << nvinfer1::EnumMax<nvinfer1::TacticSource>()) - 1;

// What contexts of an engine run on.
struct ThreadSettings {
  int most = 1;                           // threads, that of the caller included
  nvinfer1::IThreadPool* pool = nullptr;  // the application's; null: the threads of the process

  std::unique_ptr<ThreadPool> make() const;
};

class Engine final : public Implements<nvinfer1::ICudaEngine> {
 public:
  Engine(std::shared_ptr<const LoadedEngine> loaded, const Reporter& reporter,
         ThreadSettings threads);

  const LoadedEngine& loaded() const { return *loaded_; }
  std::shared_ptr<const LoadedEngine> shared() const { return loaded_; }
  Link<Engine> link() const { return anchor_.link(); }
  // The same engine once more, for those who may outlive this one.
  std::unique_ptr<Engine> again() const {
    return std::make_unique<Engine>(loaded_, reporter_, threads_);
  }
  const Plan& plan() const { return loaded_->plan(); }

  nvinfer1::ICudaEngine* getPImpl() noexcept override { return this; }
  const char* getName() const noexcept override { return plan().networkName.c_str(); }
  int32_t getNbLayers() const noexcept override;
  nvinfer1::IHostMemory* serialize() const noexcept override;
  nvinfer1::IExecutionContext* createExecutionContext(
      nvinfer1::ExecutionContextAllocationStrategy strategy) noexcept override;
  nvinfer1::IExecutionContext* createExecutionContextWithoutDeviceMemory() noexcept override;
  nvinfer1::IExecutionContext* createExecutionContextWithRuntimeConfig(
      nvinfer1::IRuntimeConfig* config) noexcept override;
  nvinfer1::IRuntimeConfig* createRuntimeConfig() noexcept override;
  nvinfer1::ISerializationConfig* createSerializationConfig() noexcept override;
  nvinfer1::IHostMemory* serializeWithConfig(
      nvinfer1::ISerializationConfig& config) const noexcept override;
  nvinfer1::IEngineInspector* createEngineInspector() const noexcept override;
  nvinfer1::ProfilingVerbosity getProfilingVerbosity() const noexcept override;
  void setErrorRecorder(nvinfer1::IErrorRecorder* recorder) noexcept override {
    reporter_.setRecorder(recorder);
  }
  nvinfer1::IErrorRecorder* getErrorRecorder() const noexcept override {
    return reporter_.recorder();
  }

  int32_t getNbIOTensors() const noexcept override;
  const char* getIOTensorName(int32_t index) const noexcept override;
  nvinfer1::TensorIOMode getTensorIOMode(const char* name) const noexcept override;
  nvinfer1::Dims getTensorShape(const char* name) const noexcept override;
  nvinfer1::DataType getTensorDataType(const char* name) const noexcept override;
  nvinfer1::IDevice* getDevice() const noexcept override { return device_.get(); }
  nvinfer1::TensorLocation getTensorLocation(const char* name) const noexcept override;
  bool isShapeInferenceIO(const char* name) const noexcept override;

  // Formats are the same in all profiles.
  int32_t getTensorBytesPerComponent(const char* name) const noexcept override {
    return getTensorBytesPerComponentV2(name, 0);
  }
  int32_t getTensorBytesPerComponentV2(const char* name, int32_t profile) const noexcept override;
  int32_t getTensorComponentsPerElement(const char* name) const noexcept override {
    return getTensorComponentsPerElementV2(name, 0);
  }
  int32_t getTensorComponentsPerElementV2(const char* name,
                                          int32_t profile) const noexcept override;
  nvinfer1::TensorFormat getTensorFormat(const char* name) const noexcept override {
    return getTensorFormatV2(name, 0);
  }
  nvinfer1::TensorFormat getTensorFormatV2(const char* name,
                                           int32_t profile) const noexcept override;
  const char* getTensorFormatDesc(const char* name) const noexcept override {
    return getTensorFormatDescV2(name, 0);
  }
  const char* getTensorFormatDescV2(const char* name, int32_t profile) const noexcept override;
  int32_t getTensorVectorizedDim(const char* name) const noexcept override {
    return getTensorVectorizedDimV2(name, 0);
  }
  int32_t getTensorVectorizedDimV2(const char* name, int32_t profile) const noexcept override;

  int32_t getNbOptimizationProfiles() const noexcept override {
    return static_cast<int32_t>(plan().profiles.size());
  }
  nvinfer1::Dims getProfileShape(const char* name, int32_t profile,
                                 nvinfer1::OptProfileSelector select) const noexcept override;
  // Those of the engine's shape inputs; null for other tensors, and where they do not fit.
  const int32_t* getProfileTensorValues(
      const char* name, int32_t profile,
      nvinfer1::OptProfileSelector select) const noexcept override;
  const int64_t* getProfileTensorValuesV2(
      const char* name, int32_t profile,
      nvinfer1::OptProfileSelector select) const noexcept override;

  size_t getDeviceMemorySize() const noexcept override {
    return static_cast<size_t>(getDeviceMemorySizeV2());
  }
  int64_t getDeviceMemorySizeV2() const noexcept override;
  size_t getDeviceMemorySizeForProfile(int32_t profile) const noexcept override {
    return static_cast<size_t>(getDeviceMemorySizeForProfileV2(profile));
  }
  int64_t getDeviceMemorySizeForProfileV2(int32_t profile) const noexcept override;
  int64_t getEngineStat(nvinfer1::EngineStat stat) const noexcept override;

  // What every engine is.
  nvinfer1::EngineCapability getEngineCapability() const noexcept override {
    return nvinfer1::EngineCapability::kSTANDARD;
  }
  bool hasImplicitBatchDimension() const noexcept override { return false; }
  nvinfer1::TacticSources getTacticSources() const noexcept override { return kAllTacticSources; }
  nvinfer1::HardwareCompatibilityLevel getHardwareCompatibilityLevel() const noexcept override {
    return nvinfer1::HardwareCompatibilityLevel::kNONE;
  }
  int32_t getNbAuxStreams() const noexcept override { return 0; }
  const char* getAliasedInputTensor(const char* name) const noexcept override;

  bool isRefittable() const noexcept override { return plan().refit != nullptr; }
  nvinfer1::IRefitter* createRefitter(nvinfer1::ILogger& logger) noexcept override;

  // engine_streaming.cpp
  bool setWeightStreamingBudget(int64_t bytes) noexcept override;
  int64_t getWeightStreamingBudget() const noexcept override;
  int64_t getMinimumWeightStreamingBudget() const noexcept override { return 0; }
  int64_t getStreamableWeightsSize() const noexcept override;
  bool setWeightStreamingBudgetV2(int64_t bytes) noexcept override;
  int64_t getWeightStreamingBudgetV2() const noexcept override;
  int64_t getWeightStreamingAutomaticBudget() const noexcept override;
  int64_t getWeightStreamingScratchMemorySize() const noexcept override;

  bool isDebugTensor(const char* name) const noexcept override;

 private:
  const IoTensor& requireIoIn(int32_t profile, const char* name) const;
  void requireProfile(int32_t profile) const;
  const std::vector<int64_t>& profileValues(const char* name, int32_t profile,
                                            nvinfer1::OptProfileSelector select) const;

  std::shared_ptr<const LoadedEngine> loaded_;
  std::unique_ptr<DeviceAccess> device_;  // null: a CPU engine
  int64_t hostBudget_ = -1;               // of weights, as it was set for a CPU engine; -1: all
  Reporter reporter_;
  ThreadSettings threads_;
  std::map<std::string, std::string, std::less<>> formatTexts_;  // by input or output
  mutable std::map<const std::vector<int64_t>*, std::vector<int32_t>> narrowValues_;
  mutable std::mutex narrowing_;
  Anchor<Engine> anchor_{this};
};

}  // namespace camshaft::api
