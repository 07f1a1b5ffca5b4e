#pragma once

// Tensors and layers of a network: views of the values and nodes of its graph. A getter reads the
// graph, a setter edits it, so a parsed network can be walked and changed like one built by hand.
//
// Tensors and layers belong to their network and are valid until it ends; one that was removed can
// still be asked, but not used again. One thread at a time uses a network and everything in it. A
// setter given a value the layer cannot take reports the error and leaves the layer as it was. Axes
// masks have bit i set for dimension i. An optional input that is absent reads as null.

#include "NvInferLegacyDims.h"
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

using TensorFormats = uint32_t;

class CAMSHAFT_API ITensor : public INoCopy {
 public:
  virtual void setName(const char* name) noexcept = 0;
  virtual const char* getName() const noexcept = 0;
  // For network inputs only; other dimensions follow from the layer that makes the tensor.
  virtual void setDimensions(const Dims& dimensions) noexcept = 0;
  // -1 for a dimension known only at run time; nbDims == -1 when even the rank is.
  virtual Dims getDimensions() const noexcept = 0;
  // The type in which an input is given or an output wanted, where that is not the type the network
  // computes it in; it counts when the engine is built. Other tensors have the type that follows
  // from their layer. Refused by strongly typed networks.
  virtual void setType(DataType type) noexcept = 0;
  virtual DataType getType() const noexcept = 0;
  virtual bool isNetworkInput() const noexcept = 0;
  virtual bool isNetworkOutput() const noexcept = 0;
  // Whether the values decide dimensions, and whether they are computed on. A tensor can be both.
  virtual bool isShapeTensor() const noexcept = 0;
  virtual bool isExecutionTensor() const noexcept = 0;
  // Names a run-time dimension of an input; dimensions of one name are equal. Null unnames it.
  virtual void setDimensionName(int32_t index, const char* name) noexcept = 0;
  virtual const char* getDimensionName(int32_t index) const noexcept = 0;

 protected:
  ~ITensor() override = default;
};

class CAMSHAFT_API ILayer : public INoCopy {
 public:
  // Says which subclass to static_cast to.
  virtual LayerType getType() const noexcept = 0;
  virtual void setName(const char* name) noexcept = 0;
  virtual const char* getName() const noexcept = 0;
  virtual int32_t getNbInputs() const noexcept = 0;
  // Null when the index is out of range or the optional input is absent.
  virtual ITensor* getInput(int32_t index) const noexcept = 0;
  virtual int32_t getNbOutputs() const noexcept = 0;
  virtual ITensor* getOutput(int32_t index) const noexcept = 0;
  // Replaces an input, or adds the optional one whose index is next.
  virtual void setInput(int32_t index, ITensor& tensor) noexcept = 0;
  // The type to compute in (kFLOAT, kHALF or kBF16) and the types to store outputs in. Builds look
  // at them under kPREFER_PRECISION_CONSTRAINTS or kOBEY_PRECISION_CONSTRAINTS; 16-bit ones need
  // kFP16 or kBF16 too. Strongly typed networks refuse both. A type that was not set reads as
  // kFLOAT, an output's as that of its tensor.
  virtual void setPrecision(DataType dataType) noexcept = 0;
  virtual DataType getPrecision() const noexcept = 0;
  virtual bool precisionIsSet() const noexcept = 0;
  virtual void resetPrecision() noexcept = 0;
  virtual void setOutputType(int32_t index, DataType dataType) noexcept = 0;
  virtual DataType getOutputType(int32_t index) const noexcept = 0;
  virtual bool outputTypeIsSet(int32_t index) const noexcept = 0;
  virtual void resetOutputType(int32_t index) noexcept = 0;
  // Free text that follows the layer into the engine inspector.
  virtual void setMetadata(const char* metadata) noexcept = 0;
  virtual const char* getMetadata() const noexcept = 0;

 protected:
  ~ILayer() override = default;
};

}  // namespace nvinfer1
