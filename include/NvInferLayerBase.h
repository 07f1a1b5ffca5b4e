#pragma once

// Tensors and layers of a network: views of the values and nodes of its graph. A getter reads the
// graph, a setter edits it, so a parsed network can be walked and changed like one built by hand.
//
// Tensors and layers belong to their network and are valid until it ends; one that was removed can
// still be asked, but not used again. One thread at a time uses a network and everything in it. A
// setter given a value the layer cannot take reports the error and leaves the layer as it was. Axes
// masks have bit i set for dimension i. An optional input that is absent reads as null.

#include "NvInferRuntime.h"

namespace nvinfer1 {

enum class LayerType : int32_t {
  kCONVOLUTION = 0,
  kCAST = 1,
  kACTIVATION = 2,
  kPOOLING = 3,
  kLRN = 4,
  kSCALE = 5,
  kSOFTMAX = 6,
  kDECONVOLUTION = 7,
  kCONCATENATION = 8,
  kELEMENTWISE = 9,
  kPLUGIN = 10,
  kUNARY = 11,
  kPADDING = 12,
  kSHUFFLE = 13,
  kREDUCE = 14,
  kTOPK = 15,
  kGATHER = 16,
  kMATRIX_MULTIPLY = 17,
  kRAGGED_SOFTMAX = 18,
  kCONSTANT = 19,
  kIDENTITY = 20,
  kPLUGIN_V2 = 21,
  kSLICE = 22,
  kSHAPE = 23,
  kPARAMETRIC_RELU = 24,
  kRESIZE = 25,
  kTRIP_LIMIT = 26,
  kRECURRENCE = 27,
  kITERATOR = 28,
  kLOOP_OUTPUT = 29,
  kSELECT = 30,
  kFILL = 31,
  kQUANTIZE = 32,
  kDEQUANTIZE = 33,
  kCONDITION = 34,
  kCONDITIONAL_INPUT = 35,
  kCONDITIONAL_OUTPUT = 36,
  kSCATTER = 37,
  kEINSUM = 38,
  kASSERTION = 39,
  kONE_HOT = 40,
  kNON_ZERO = 41,
  kGRID_SAMPLE = 42,
  kNMS = 43,
  kREVERSE_SEQUENCE = 44,
  kNORMALIZATION = 45,
  kPLUGIN_V3 = 46,
  kSQUEEZE = 47,
  kUNSQUEEZE = 48,
  kCUMULATIVE = 49,
  kDYNAMIC_QUANTIZE = 50,
  kATTENTION_INPUT = 51,
  kATTENTION_OUTPUT = 52,
  kROTARY_EMBEDDING = 53,
  kKVCACHE_UPDATE = 54,
  kMOE = 55,
  kDIST_COLLECTIVE = 56,
  // Camshaft's own value: an operator with no layer class declared here. Such a layer is seen as a
  // plain ILayer.
  kCAMSHAFT_OPERATOR = 57,
};
template <>
constexpr int32_t EnumMax<LayerType>() noexcept {
  return 58;
}

class CAMSHAFT_API ITensor : public INoCopy {
 public:
  void setName(const char* name) noexcept { mImpl->setName(name); }
  const char* getName() const noexcept { return mImpl->getName(); }
  // For network inputs only; other dimensions follow from the layer that makes the tensor.
  void setDimensions(const Dims& dimensions) noexcept { mImpl->setDimensions(dimensions); }
  // -1 for a dimension known only at run time; nbDims == -1 when even the rank is.
  Dims getDimensions() const noexcept { return mImpl->getDimensions(); }
  // The type in which an input is given or an output wanted, where that is not the type the network
  // computes it in; it counts when the engine is built. Other tensors have the type that follows
  // from their layer. Refused by strongly typed networks.
  void setType(DataType type) noexcept { mImpl->setType(type); }
  DataType getType() const noexcept { return mImpl->getType(); }
  bool isNetworkInput() const noexcept { return mImpl->isNetworkInput(); }
  bool isNetworkOutput() const noexcept { return mImpl->isNetworkOutput(); }
  // Whether the values decide dimensions, and whether they are computed on. A tensor can be both.
  bool isShapeTensor() const noexcept { return mImpl->isShapeTensor(); }
  bool isExecutionTensor() const noexcept { return mImpl->isExecutionTensor(); }
  // Names a run-time dimension of an input; dimensions of one name are equal. Null unnames it.
  void setDimensionName(int32_t index, const char* name) noexcept {
    mImpl->setDimensionName(index, name);
  }
  const char* getDimensionName(int32_t index) const noexcept {
    return mImpl->getDimensionName(index);
  }

  // Between what its elements lie, for kINT8 without Q/DQ layers; goes before a calibrator's. The
  // getters tell NaN where none is set.
  bool setDynamicRange(float min, float max) noexcept { return mImpl->setDynamicRange(min, max); }
  // Never: batches are dimensions like others.
  void setBroadcastAcrossBatch(bool broadcastAcrossBatch) noexcept {
    mImpl->setBroadcastAcrossBatch(broadcastAcrossBatch);
  }
  bool getBroadcastAcrossBatch() const noexcept { return mImpl->getBroadcastAcrossBatch(); }
  // kHOST for an input whose values decide dimensions. Setting another is refused.
  TensorLocation getLocation() const noexcept { return mImpl->getLocation(); }
  void setLocation(TensorLocation location) noexcept { mImpl->setLocation(location); }
  bool dynamicRangeIsSet() const noexcept { return mImpl->dynamicRangeIsSet(); }
  void resetDynamicRange() noexcept { mImpl->resetDynamicRange(); }
  float getDynamicRangeMin() const noexcept { return mImpl->getDynamicRangeMin(); }
  float getDynamicRangeMax() const noexcept { return mImpl->getDynamicRangeMax(); }
  // Bits of TensorFormat that an input or output may have in the engine: kLINEAR where that is
  // among them, else the first that suits its dimensions. Builds without one fail and say why.
  void setAllowedFormats(TensorFormats formats) noexcept { mImpl->setAllowedFormats(formats); }
  TensorFormats getAllowedFormats() const noexcept { return mImpl->getAllowedFormats(); }

 protected:
  ~ITensor() noexcept override = default;

  apiv::VTensor* mImpl{};
};

class CAMSHAFT_API ILayer : public INoCopy {
 public:
  // Says which subclass to static_cast to.
  LayerType getType() const noexcept { return mLayer->getType(); }
  void setName(const char* name) noexcept { mLayer->setName(name); }
  const char* getName() const noexcept { return mLayer->getName(); }
  int32_t getNbInputs() const noexcept { return mLayer->getNbInputs(); }
  // Null when the index is out of range or the optional input is absent.
  ITensor* getInput(int32_t index) const noexcept { return mLayer->getInput(index); }
  int32_t getNbOutputs() const noexcept { return mLayer->getNbOutputs(); }
  ITensor* getOutput(int32_t index) const noexcept { return mLayer->getOutput(index); }
  // Replaces an input, or adds the optional one whose index is next.
  void setInput(int32_t index, ITensor& tensor) noexcept { mLayer->setInput(index, tensor); }
  // The type to compute in (kFLOAT, kHALF or kBF16) and the types to store outputs in. Builds look
  // at them under kPREFER_PRECISION_CONSTRAINTS or kOBEY_PRECISION_CONSTRAINTS; 16-bit ones need
  // kFP16 or kBF16 too. Strongly typed networks refuse both. A type that was not set reads as
  // kFLOAT, an output's as that of its tensor.
  void setPrecision(DataType dataType) noexcept { mLayer->setPrecision(dataType); }
  DataType getPrecision() const noexcept { return mLayer->getPrecision(); }
  bool precisionIsSet() const noexcept { return mLayer->precisionIsSet(); }
  void resetPrecision() noexcept { mLayer->resetPrecision(); }
  void setOutputType(int32_t index, DataType dataType) noexcept {
    mLayer->setOutputType(index, dataType);
  }
  DataType getOutputType(int32_t index) const noexcept { return mLayer->getOutputType(index); }
  bool outputTypeIsSet(int32_t index) const noexcept { return mLayer->outputTypeIsSet(index); }
  void resetOutputType(int32_t index) noexcept { mLayer->resetOutputType(index); }
  // Free text that follows the layer into the engine inspector.
  void setMetadata(const char* metadata) noexcept { mLayer->setMetadata(metadata); }
  const char* getMetadata() const noexcept { return mLayer->getMetadata(); }

  // Devices that a layer works on. Another number than 1 is refused.
  bool setNbRanks(int32_t nbRanks) noexcept { return mLayer->setNbRanks(nbRanks); }
  int32_t getNbRanks() const noexcept { return mLayer->getNbRanks(); }

 protected:
  ~ILayer() noexcept override = default;

  apiv::VLayer* mLayer{};
};

}  // namespace nvinfer1
