// ICudaEngine over a loaded engine.
#pragma once

#include <memory>
#include <string>

#include "api/device.h"
#include "api/link.h"
#include "api/report.h"
#include "runtime/loaded_engine.h"

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

class Engine : public nvinfer1::ICudaEngine {
 public:
  Engine(std::shared_ptr<const LoadedEngine> loaded, const Reporter& reporter, int threads);

  const LoadedEngine& loaded() const { return *loaded_; }
  Link<Engine> link() const { return anchor_.link(); }
  // The same engine once more, for those who may outlive this one.
  std::unique_ptr<Engine> again() const {
    return std::make_unique<Engine>(loaded_, reporter_, threads_);
  }
  const Plan& plan() const { return loaded_->plan(); }

  const char* getName() const noexcept override { return plan().networkName.c_str(); }
  int32_t getNbLayers() const noexcept override;
  nvinfer1::IHostMemory* serialize() const noexcept override;
  nvinfer1::IExecutionContext* createExecutionContext(
      nvinfer1::ExecutionContextAllocationStrategy strategy) noexcept override;
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

  // Every tensor is linear: one component per element, no vectorised dimension.
  int32_t getTensorBytesPerComponent(const char* name) const noexcept override;
  int32_t getTensorBytesPerComponent(const char* name, int32_t) const noexcept override {
    return getTensorBytesPerComponent(name);
  }
  int32_t getTensorComponentsPerElement(const char*) const noexcept override { return -1; }
  int32_t getTensorComponentsPerElement(const char*, int32_t) const noexcept override { return -1; }
  nvinfer1::TensorFormat getTensorFormat(const char*) const noexcept override {
    return nvinfer1::TensorFormat::kLINEAR;
  }
  nvinfer1::TensorFormat getTensorFormat(const char*, int32_t) const noexcept override {
    return nvinfer1::TensorFormat::kLINEAR;
  }
  const char* getTensorFormatDesc(const char* name) const noexcept override;
  const char* getTensorFormatDesc(const char* name, int32_t) const noexcept override {
    return getTensorFormatDesc(name);
  }
  int32_t getTensorVectorizedDim(const char*) const noexcept override { return -1; }
  int32_t getTensorVectorizedDim(const char*, int32_t) const noexcept override { return -1; }

  int32_t getNbOptimizationProfiles() const noexcept override {
    return static_cast<int32_t>(plan().profiles.size());
  }
  nvinfer1::Dims getProfileShape(const char* name, int32_t profile,
                                 nvinfer1::OptProfileSelector select) const noexcept override;
  // Values of shape tensors are not bounded by profiles here: null.
  const int32_t* getProfileTensorValues(const char*, int32_t,
                                        nvinfer1::OptProfileSelector) const noexcept override {
    return nullptr;
  }
  const int64_t* getProfileTensorValuesV2(const char*, int32_t,
                                          nvinfer1::OptProfileSelector) const noexcept override {
    return nullptr;
  }

  size_t getDeviceMemorySize() const noexcept override {
    return static_cast<size_t>(getDeviceMemorySizeV2());
  }
  int64_t getDeviceMemorySizeV2() const noexcept override;
  size_t getDeviceMemorySizeForProfile(int32_t profile) const noexcept override {
    return static_cast<size_t>(getDeviceMemorySizeForProfileV2(profile));
  }
  int64_t getDeviceMemorySizeForProfileV2(int32_t profile) const noexcept override;

 private:
  std::shared_ptr<const LoadedEngine> loaded_;
  std::unique_ptr<DeviceAccess> device_;  // null: a CPU engine
  Reporter reporter_;
  int threads_;
  Anchor<Engine> anchor_{this};
};

}  // namespace camshaft::api
