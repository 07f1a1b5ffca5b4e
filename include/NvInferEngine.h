#pragma once

// Engines, and what they are made with: profiles, and settings for serialising and running them.

#include "CamshaftDevice.h"
#include "NvInferCallbacks.h"

namespace nvinfer1 {

// The range of input dimensions that an engine accepts. Owned by the builder that made it. A
// setter returns false on values that are absurd on their own; whether they fit the network is
// checked by the build.
class CAMSHAFT_API IOptimizationProfile : public INoCopy {
 public:
  bool setDimensions(const char* inputName, OptProfileSelector select, const Dims& dims) noexcept {
    return mImpl->setDimensions(inputName, select, dims);
  }
  // nbDims == -1 where nothing was set.
  Dims getDimensions(const char* inputName, OptProfileSelector select) const noexcept {
    return mImpl->getDimensions(inputName, select);
  }

  // Range of the values of a shape input (an input whose values decide dimensions).
  bool setShapeValues(const char* inputName, OptProfileSelector select, const int32_t* values,
                      int32_t nbValues) noexcept {
    return mImpl->setShapeValues(inputName, select, values, nbValues);
  }
  bool setShapeValuesV2(const char* inputName, OptProfileSelector select, const int64_t* values,
                        int32_t nbValues) noexcept {
    return mImpl->setShapeValuesV2(inputName, select, values, nbValues);
  }
  // -1 where nothing was set.
  int32_t getNbShapeValues(const char* inputName) const noexcept {
    return mImpl->getNbShapeValues(inputName);
  }
  // Null where nothing was set.
  const int64_t* getShapeValuesV2(const char* inputName, OptProfileSelector select) const noexcept {
    return mImpl->getShapeValuesV2(inputName, select);
  }

  // Whether every input that was given anything has min <= opt <= max in each place.
  bool isValid() const noexcept { return mImpl->isValid(); }

  // Null where nothing was set, or where a value needs 64 bits.
  const int32_t* getShapeValues(const char* inputName, OptProfileSelector select) const noexcept {
    return mImpl->getShapeValues(inputName, select);
  }
  // Stored: memory is planned for the largest sizes of a profile, neither more nor less.
  bool setExtraMemoryTarget(float target) noexcept { return mImpl->setExtraMemoryTarget(target); }
  float getExtraMemoryTarget() const noexcept { return mImpl->getExtraMemoryTarget(); }

 protected:
  ~IOptimizationProfile() noexcept override = default;

  apiv::VOptimizationProfile* mImpl{};
};

// Bit numbers of SerializationFlags.
enum class SerializationFlag : int32_t {
  kEXCLUDE_WEIGHTS = 0,       // those that a refit gives again
  kEXCLUDE_LEAN_RUNTIME = 1,  // there never is one in an engine
  kINCLUDE_REFIT = 2,         // the result can be refitted once more
};
template <>
constexpr int32_t EnumMax<SerializationFlag>() noexcept {
  return 3;
}

// How an engine is written.
class CAMSHAFT_API ISerializationConfig : public INoCopy {
 public:
  ~ISerializationConfig() noexcept override = default;

  bool setFlags(SerializationFlags serializationFlags) noexcept {
    return mImpl->setFlags(serializationFlags);
  }
  SerializationFlags getFlags() const noexcept { return mImpl->getFlags(); }
  bool clearFlag(SerializationFlag serializationFlag) noexcept {
    return mImpl->clearFlag(serializationFlag);
  }
  bool setFlag(SerializationFlag serializationFlag) noexcept {
    return mImpl->setFlag(serializationFlag);
  }
  bool getFlag(SerializationFlag serializationFlag) const noexcept {
    return mImpl->getFlag(serializationFlag);
  }

 protected:
  apiv::VSerializationConfig* mImpl{};
};

// How an execution context is made.
class CAMSHAFT_API IRuntimeConfig : public INoCopy {
 public:
  ~IRuntimeConfig() noexcept override = default;

  void setExecutionContextAllocationStrategy(ExecutionContextAllocationStrategy strategy) noexcept {
    mImpl->setExecutionContextAllocationStrategy(strategy);
  }
  ExecutionContextAllocationStrategy getExecutionContextAllocationStrategy() const noexcept {
    return mImpl->getExecutionContextAllocationStrategy();
  }

 protected:
  apiv::VRuntimeConfig* mImpl{};
};

// Bytes, in an engine.
enum class EngineStat : int32_t {
  kTOTAL_WEIGHTS_SIZE = 0,
  kSTRIPPED_WEIGHTS_SIZE = 1,
};
template <>
constexpr int32_t EnumMax<EngineStat>() noexcept {
  return 2;
}

// A built model. Immutable, so all methods but the setters may be called from several threads at
// once; contexts and inspectors may outlive it. Tensor names are those of the network's inputs and
// outputs; with an unknown name a method reports the error and returns the "no" of its type (-1,
// false, null, nbDims == -1, TensorIOMode::kNONE, DataType::kFLOAT, TensorFormat::kLINEAR).
class CAMSHAFT_API ICudaEngine : public INoCopy {
 public:
  ~ICudaEngine() noexcept override = default;

  const char* getName() const noexcept { return mImpl->getName(); }
  int32_t getNbLayers() const noexcept { return mImpl->getNbLayers(); }
  // A copy of the engine file.
  IHostMemory* serialize() const noexcept { return mImpl->serialize(); }
  IExecutionContext* createExecutionContext(
      ExecutionContextAllocationStrategy strategy =
          ExecutionContextAllocationStrategy::kSTATIC) noexcept {
    return mImpl->createExecutionContext(strategy);
  }
  IEngineInspector* createEngineInspector() const noexcept {
    return mImpl->createEngineInspector();
  }
  ProfilingVerbosity getProfilingVerbosity() const noexcept {
    return mImpl->getProfilingVerbosity();
  }
  void setErrorRecorder(IErrorRecorder* recorder) noexcept { mImpl->setErrorRecorder(recorder); }
  IErrorRecorder* getErrorRecorder() const noexcept { return mImpl->getErrorRecorder(); }
  // Never.
  bool hasImplicitBatchDimension() const noexcept { return mImpl->hasImplicitBatchDimension(); }

  // Inputs first, then outputs, each in network order. This order is also that of executeV2.
  int32_t getNbIOTensors() const noexcept { return mImpl->getNbIOTensors(); }
  const char* getIOTensorName(int32_t index) const noexcept {
    return mImpl->getIOTensorName(index);
  }
  TensorIOMode getTensorIOMode(const char* tensorName) const noexcept {
    return mImpl->getTensorIOMode(tensorName);
  }
  // -1 for each dimension known only at run time.
  Dims getTensorShape(const char* tensorName) const noexcept {
    return mImpl->getTensorShape(tensorName);
  }
  DataType getTensorDataType(const char* tensorName) const noexcept {
    return mImpl->getTensorDataType(tensorName);
  }
  // Camshaft's own: the device the engine runs on, owned by the engine; null for a CPU engine.
  IDevice* getDevice() const noexcept { return mImpl->getDevice(); }
  // Where the tensor's address must point. kHOST for every tensor of a CPU engine, and for inputs
  // whose values decide shapes.
  TensorLocation getTensorLocation(const char* tensorName) const noexcept {
    return mImpl->getTensorLocation(tensorName);
  }
  // Whether the tensor is an input whose values decide dimensions, or an output that holds some.
  bool isShapeInferenceIO(const char* tensorName) const noexcept {
    return mImpl->isShapeInferenceIO(tensorName);
  }

  // Memory layout. The form without a profile speaks of profile 0. Byte, component and dimension
  // numbers describe vectorised formats and are -1 for kLINEAR.
  int32_t getTensorBytesPerComponent(const char* tensorName) const noexcept {
    return mImpl->getTensorBytesPerComponent(tensorName);
  }
  int32_t getTensorBytesPerComponent(const char* tensorName, int32_t profileIndex) const noexcept {
    return mImpl->getTensorBytesPerComponentV2(tensorName, profileIndex);
  }
  int32_t getTensorComponentsPerElement(const char* tensorName) const noexcept {
    return mImpl->getTensorComponentsPerElement(tensorName);
  }
  int32_t getTensorComponentsPerElement(const char* tensorName,
                                        int32_t profileIndex) const noexcept {
    return mImpl->getTensorComponentsPerElementV2(tensorName, profileIndex);
  }
  TensorFormat getTensorFormat(const char* tensorName) const noexcept {
    return mImpl->getTensorFormat(tensorName);
  }
  TensorFormat getTensorFormat(const char* tensorName, int32_t profileIndex) const noexcept {
    return mImpl->getTensorFormatV2(tensorName, profileIndex);
  }
  const char* getTensorFormatDesc(const char* tensorName) const noexcept {
    return mImpl->getTensorFormatDesc(tensorName);
  }
  const char* getTensorFormatDesc(const char* tensorName, int32_t profileIndex) const noexcept {
    return mImpl->getTensorFormatDescV2(tensorName, profileIndex);
  }
  int32_t getTensorVectorizedDim(const char* tensorName) const noexcept {
    return mImpl->getTensorVectorizedDim(tensorName);
  }
  int32_t getTensorVectorizedDim(const char* tensorName, int32_t profileIndex) const noexcept {
    return mImpl->getTensorVectorizedDimV2(tensorName, profileIndex);
  }

  // At least 1: an engine built without profiles has one, with bounds chosen by the builder.
  int32_t getNbOptimizationProfiles() const noexcept { return mImpl->getNbOptimizationProfiles(); }
  Dims getProfileShape(const char* tensorName, int32_t profileIndex,
                       OptProfileSelector select) const noexcept {
    return mImpl->getProfileShape(tensorName, profileIndex, select);
  }
  // Values of a shape input; null for any other tensor, and from the first form where they do not
  // fit.
  const int32_t* getProfileTensorValues(const char* tensorName, int32_t profileIndex,
                                        OptProfileSelector select) const noexcept {
    return mImpl->getProfileTensorValues(tensorName, profileIndex, select);
  }
  const int64_t* getProfileTensorValuesV2(const char* tensorName, int32_t profileIndex,
                                          OptProfileSelector select) const noexcept {
    return mImpl->getProfileTensorValuesV2(tensorName, profileIndex, select);
  }

  // Bytes of scratch memory one context needs: for the greediest profile, or for the one named.
  size_t getDeviceMemorySize() const noexcept { return mImpl->getDeviceMemorySize(); }
  int64_t getDeviceMemorySizeV2() const noexcept { return mImpl->getDeviceMemorySizeV2(); }
  size_t getDeviceMemorySizeForProfile(int32_t profileIndex) const noexcept {
    return mImpl->getDeviceMemorySizeForProfile(profileIndex);
  }
  int64_t getDeviceMemorySizeForProfileV2(int32_t profileIndex) const noexcept {
    return mImpl->getDeviceMemorySizeForProfileV2(profileIndex);
  }

  // The input that an output shares its memory with; null when it has its own.
  const char* getAliasedInputTensor(const char* tensorName) const noexcept {
    return mImpl->getAliasedInputTensor(tensorName);
  }
  // Old spelling of createExecutionContext(kUSER_MANAGED).
  IExecutionContext* createExecutionContextWithoutDeviceMemory() noexcept {
    return mImpl->createExecutionContextWithoutDeviceMemory();
  }
  IExecutionContext* createExecutionContext(IRuntimeConfig* runtimeConfig) noexcept {
    return mImpl->createExecutionContextWithRuntimeConfig(runtimeConfig);
  }
  IRuntimeConfig* createRuntimeConfig() noexcept { return mImpl->createRuntimeConfig(); }
  // Whether the engine was built with kREFIT or one of its kind.
  bool isRefittable() const noexcept { return mImpl->isRefittable(); }
  // Always kSTANDARD.
  EngineCapability getEngineCapability() const noexcept { return mImpl->getEngineCapability(); }
  // Bits of TacticSource.
  TacticSources getTacticSources() const noexcept { return mImpl->getTacticSources(); }
  HardwareCompatibilityLevel getHardwareCompatibilityLevel() const noexcept {
    return mImpl->getHardwareCompatibilityLevel();
  }
  // 0: an engine needs no streams to run layers side by side.
  int32_t getNbAuxStreams() const noexcept { return mImpl->getNbAuxStreams(); }
  // All flags off but kEXCLUDE_LEAN_RUNTIME, which holds anyway.
  ISerializationConfig* createSerializationConfig() noexcept {
    return mImpl->createSerializationConfig();
  }
  IHostMemory* serializeWithConfig(ISerializationConfig& config) const noexcept {
    return mImpl->serializeWithConfig(config);
  }
  // Weight streaming, of engines built with kWEIGHT_STREAMING: how many bytes of weights stay on
  // the device; all of them until a budget is set. The others lie on the host, and runs copy them
  // to scratch memory layer by layer. Budgets are set while there are no contexts. In the older
  // pair -1 asks for the automatic budget and 0 is no streaming. Other engines tell 0.
  bool setWeightStreamingBudget(int64_t gpuMemoryBudget) noexcept {
    return mImpl->setWeightStreamingBudget(gpuMemoryBudget);
  }
  int64_t getWeightStreamingBudget() const noexcept { return mImpl->getWeightStreamingBudget(); }
  int64_t getMinimumWeightStreamingBudget() const noexcept {
    return mImpl->getMinimumWeightStreamingBudget();
  }
  int64_t getStreamableWeightsSize() const noexcept { return mImpl->getStreamableWeightsSize(); }
  bool setWeightStreamingBudgetV2(int64_t gpuMemoryBudget) noexcept {
    return mImpl->setWeightStreamingBudgetV2(gpuMemoryBudget);
  }
  int64_t getWeightStreamingBudgetV2() const noexcept {
    return mImpl->getWeightStreamingBudgetV2();
  }
  int64_t getWeightStreamingAutomaticBudget() const noexcept {
    return mImpl->getWeightStreamingAutomaticBudget();
  }
  int64_t getWeightStreamingScratchMemorySize() const noexcept {
    return mImpl->getWeightStreamingScratchMemorySize();
  }
  // Whether INetworkDefinition::markDebug was called on the tensor.
  bool isDebugTensor(const char* name) const noexcept { return mImpl->isDebugTensor(name); }
  // -1 where it is not known.
  int64_t getEngineStat(EngineStat stat) const noexcept { return mImpl->getEngineStat(stat); }

 protected:
  apiv::VCudaEngine* mImpl{};
};

}  // namespace nvinfer1
