#pragma once

// What TensorRT deprecates of building: calibrators, which find ranges for int8, and selectors of
// kernels.

#include "NvInferLayerBase.h"

namespace nvinfer1 {

enum class CalibrationAlgoType : int32_t {
  kLEGACY_CALIBRATION = 0,
  kENTROPY_CALIBRATION = 1,
  kENTROPY_CALIBRATION_2 = 2,
  kMINMAX_CALIBRATION = 3,
};
template <>
constexpr int32_t EnumMax<CalibrationAlgoType>() noexcept {
  return 4;
}

// Gives batches of inputs, from which ranges of tensors are found, for kINT8. A network with Q/DQ
// layers needs none, and a build does not ask there.
class CAMSHAFT_API IInt8Calibrator : public IVersionedInterface {
 public:
  virtual int32_t getBatchSize() const noexcept = 0;
  // Writes the address of each named input's data to bindings: in device memory, or on the host,
  // where engines of the CPU need it. Real numbers are f32. False when there are no more.
  virtual bool getBatch(void* bindings[], const char* names[], int32_t nbBindings) noexcept = 0;
  // What was found before; null: it is found anew and handed to the writer.
  virtual const void* readCalibrationCache(std::size_t& length) noexcept = 0;
  virtual void writeCalibrationCache(const void* ptr, std::size_t length) noexcept = 0;
  virtual CalibrationAlgoType getAlgorithm() noexcept = 0;
  ~IInt8Calibrator() noexcept override = default;
};

namespace v_1_0 {

class CAMSHAFT_API IInt8EntropyCalibrator : public IInt8Calibrator {
 public:
  InterfaceInfo getInterfaceInfo() const noexcept override {
    return {"IInt8EntropyCalibrator", 1, 0};
  }
  CalibrationAlgoType getAlgorithm() noexcept override {
    return CalibrationAlgoType::kENTROPY_CALIBRATION;
  }
  ~IInt8EntropyCalibrator() noexcept override = default;
};

class CAMSHAFT_API IInt8EntropyCalibrator2 : public IInt8Calibrator {
 public:
  InterfaceInfo getInterfaceInfo() const noexcept override {
    return {"IInt8EntropyCalibrator2", 1, 0};
  }
  CalibrationAlgoType getAlgorithm() noexcept override {
    return CalibrationAlgoType::kENTROPY_CALIBRATION_2;
  }
  ~IInt8EntropyCalibrator2() noexcept override = default;
};

class CAMSHAFT_API IInt8MinMaxCalibrator : public IInt8Calibrator {
 public:
  InterfaceInfo getInterfaceInfo() const noexcept override {
    return {"IInt8MinMaxCalibrator", 1, 0};
  }
  CalibrationAlgoType getAlgorithm() noexcept override {
    return CalibrationAlgoType::kMINMAX_CALIBRATION;
  }
  ~IInt8MinMaxCalibrator() noexcept override = default;
};

class CAMSHAFT_API IInt8LegacyCalibrator : public IInt8Calibrator {
 public:
  InterfaceInfo getInterfaceInfo() const noexcept override { return {"IInt8Calibrator", 1, 0}; }
  CalibrationAlgoType getAlgorithm() noexcept override {
    return CalibrationAlgoType::kLEGACY_CALIBRATION;
  }
  virtual double getQuantile() const noexcept = 0;
  virtual double getRegressionCutoff() const noexcept = 0;
  virtual const void* readHistogramCache(std::size_t& length) noexcept = 0;
  virtual void writeHistogramCache(const void* ptr, std::size_t length) noexcept = 0;
  ~IInt8LegacyCalibrator() noexcept override = default;
};

}  // namespace v_1_0
using IInt8EntropyCalibrator = v_1_0::IInt8EntropyCalibrator;
using IInt8EntropyCalibrator2 = v_1_0::IInt8EntropyCalibrator2;
using IInt8MinMaxCalibrator = v_1_0::IInt8MinMaxCalibrator;
using IInt8LegacyCalibrator = v_1_0::IInt8LegacyCalibrator;

class CAMSHAFT_API IAlgorithmIOInfo : public INoCopy {
 public:
  DataType getDataType() const noexcept { return mImpl->getDataType(); }
  Dims getStrides() const noexcept { return mImpl->getStrides(); }
  int64_t getVectorizedDim() const noexcept { return mImpl->getVectorizedDim(); }
  int64_t getComponentsPerElement() const noexcept { return mImpl->getComponentsPerElement(); }

 protected:
  ~IAlgorithmIOInfo() noexcept override = default;

  apiv::VAlgorithmIOInfo* mImpl{};
};

class CAMSHAFT_API IAlgorithmVariant : public INoCopy {
 public:
  int64_t getImplementation() const noexcept { return mImpl->getImplementation(); }
  int64_t getTactic() const noexcept { return mImpl->getTactic(); }

 protected:
  ~IAlgorithmVariant() noexcept override = default;

  apiv::VAlgorithmVariant* mImpl{};
};

class CAMSHAFT_API IAlgorithmContext : public INoCopy {
 public:
  const char* getName() const noexcept { return mImpl->getName(); }
  Dims getDimensions(int32_t index, OptProfileSelector select) const noexcept {
    return mImpl->getDimensions(index, select);
  }
  int32_t getNbInputs() const noexcept { return mImpl->getNbInputs(); }
  int32_t getNbOutputs() const noexcept { return mImpl->getNbOutputs(); }

 protected:
  ~IAlgorithmContext() noexcept override = default;

  apiv::VAlgorithmContext* mImpl{};
};

class CAMSHAFT_API IAlgorithm : public INoCopy {
 public:
  const IAlgorithmVariant& getAlgorithmVariant() const noexcept {
    return mImpl->getAlgorithmVariant();
  }
  float getTimingMSec() const noexcept { return mImpl->getTimingMSec(); }
  std::size_t getWorkspaceSize() const noexcept { return mImpl->getWorkspaceSize(); }
  const IAlgorithmIOInfo* getAlgorithmIOInfoByIndex(int32_t index) const noexcept {
    return mImpl->getAlgorithmIOInfoByIndex(index);
  }

 protected:
  ~IAlgorithm() noexcept override = default;

  apiv::VAlgorithm* mImpl{};
};

namespace v_1_0 {

// Chooses kernels in place of the build. A timing cache with choices (ITimingCache::update) does
// the same without code. Layers and algorithms are those of the build, after fusion: an
// implementation is a kernel, a tactic one of its configurations.
class CAMSHAFT_API IAlgorithmSelector : public IVersionedInterface {
 public:
  InterfaceInfo getInterfaceInfo() const noexcept override { return {"IAlgorithmSelector", 1, 0}; }

  // Writes the numbers of those that may be used, and returns how many; 0: the build's own choice.
  // Times are 0 where the timing cache has none.
  virtual int32_t selectAlgorithms(const IAlgorithmContext& context,
                                   const IAlgorithm* const* choices, int32_t nbChoices,
                                   int32_t* selection) noexcept = 0;
  // What was taken, once all layers of a profile were asked about.
  virtual void reportAlgorithms(const IAlgorithmContext* const* algoContexts,
                                const IAlgorithm* const* algoChoices,
                                int32_t nbAlgorithms) noexcept = 0;
  ~IAlgorithmSelector() noexcept override = default;
};

}  // namespace v_1_0

// Bit numbers of QuantizationFlags.
enum class QuantizationFlag : int32_t {
  kCALIBRATE_BEFORE_FUSION = 0,
};
template <>
constexpr int32_t EnumMax<QuantizationFlag>() noexcept {
  return 1;
}

}  // namespace nvinfer1
