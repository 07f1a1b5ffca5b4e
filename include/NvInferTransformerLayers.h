#pragma once

// Layers of language models: attention, its positions and cache, experts, and work on several
// devices.

#include "NvInferReduceLayers.h"

namespace nvinfer1 {

enum class AttentionNormalizationOp : int32_t {
  kNONE = 0,
  kSOFTMAX = 1,
};
template <>
constexpr int32_t EnumMax<AttentionNormalizationOp>() noexcept {
  return 2;
}

enum class CausalMaskKind : int32_t {
  kNONE = 0,
  kUPPER_LEFT = 1,   // query i sees keys 0 .. i
  kLOWER_RIGHT = 2,  // the last query sees all keys
};
template <>
constexpr int32_t EnumMax<CausalMaskKind>() noexcept {
  return 3;
}

// How sequences of different length lie in a tensor: padded to one length, or one after the other.
enum class AttentionIOForm : int32_t {
  kPADDED_BHND = 0,
  kPACKED_NHD = 1,
};
template <>
constexpr int32_t EnumMax<AttentionIOForm>() noexcept {
  return 2;
}

class CAMSHAFT_API IAttentionBoundaryLayer : public ILayer {
 public:
  IAttention* getAttention() const noexcept { return mBoundary->getAttention(); }

 protected:
  ~IAttentionBoundaryLayer() noexcept override = default;

  apiv::VAttentionBoundaryLayer* mBoundary{};
};

class CAMSHAFT_API IAttentionInputLayer : public IAttentionBoundaryLayer {
 protected:
  ~IAttentionInputLayer() noexcept override = default;

  apiv::VAttentionInputLayer* mImpl{};
};

class CAMSHAFT_API IAttentionOutputLayer : public IAttentionBoundaryLayer {
 protected:
  ~IAttentionOutputLayer() noexcept override = default;

  apiv::VAttentionOutputLayer* mImpl{};
};

// normalise(query * transpose(key) + mask) * value, over [batch, heads, length, size]. Without a
// normalisation, keys that are hidden count for nothing. A mask and a causal kind may go together.
// Lengths hide the keys after them; causal kinds then count from there. Refused: kPACKED_NHD, and
// quantising what the normalisation gives.
class CAMSHAFT_API IAttention : public INoCopy {
 public:
  bool setNormalizationOperation(AttentionNormalizationOp op) noexcept {
    return mImpl->setNormalizationOperation(op);
  }
  AttentionNormalizationOp getNormalizationOperation() const noexcept {
    return mImpl->getNormalizationOperation();
  }
  bool setMask(ITensor& mask) noexcept { return mImpl->setMask(mask); }
  ITensor* getMask() noexcept { return mImpl->getMask(); }
  bool setCausal(bool isCausal) noexcept { return mImpl->setCausal(isCausal); }
  bool getCausal() const noexcept { return mImpl->getCausal(); }
  // Whether it may be computed in parts where there is no kernel for the whole.
  bool setDecomposable(bool decomposable) noexcept { return mImpl->setDecomposable(decomposable); }
  bool getDecomposable() const noexcept { return mImpl->getDecomposable(); }
  bool setInput(int32_t index, ITensor& input) noexcept { return mImpl->setInput(index, input); }
  int32_t getNbInputs() const noexcept { return mImpl->getNbInputs(); }
  ITensor* getInput(int32_t index) const noexcept { return mImpl->getInput(index); }
  int32_t getNbOutputs() const noexcept { return mImpl->getNbOutputs(); }
  ITensor* getOutput(int32_t index) const noexcept { return mImpl->getOutput(index); }
  bool setName(const char* name) noexcept { return mImpl->setName(name); }
  const char* getName() const noexcept { return mImpl->getName(); }
  bool setNormalizationQuantizeScale(ITensor& tensor) noexcept {
    return mImpl->setNormalizationQuantizeScale(tensor);
  }
  ITensor* getNormalizationQuantizeScale() const noexcept {
    return mImpl->getNormalizationQuantizeScale();
  }
  bool setNormalizationQuantizeToType(DataType type) noexcept {
    return mImpl->setNormalizationQuantizeToType(type);
  }
  DataType getNormalizationQuantizeToType() const noexcept {
    return mImpl->getNormalizationQuantizeToType();
  }
  bool setMetadata(const char* metadata) noexcept { return mImpl->setMetadata(metadata); }
  const char* getMetadata() const noexcept { return mImpl->getMetadata(); }
  bool setNbRanks(int32_t nbRanks) noexcept { return mImpl->setNbRanks(nbRanks); }
  int32_t getNbRanks() const noexcept { return mImpl->getNbRanks(); }
  bool setCausalKind(CausalMaskKind kind) noexcept { return mImpl->setCausalKind(kind); }
  CausalMaskKind getCausalKind() const noexcept { return mImpl->getCausalKind(); }
  bool setQueryForm(AttentionIOForm form) noexcept { return mImpl->setQueryForm(form); }
  AttentionIOForm getQueryForm() const noexcept { return mImpl->getQueryForm(); }
  bool setKeyValueForm(AttentionIOForm form) noexcept { return mImpl->setKeyValueForm(form); }
  AttentionIOForm getKeyValueForm() const noexcept { return mImpl->getKeyValueForm(); }
  bool setQueryLengths(ITensor* lengths) noexcept { return mImpl->setQueryLengths(lengths); }
  ITensor* getQueryLengths() const noexcept { return mImpl->getQueryLengths(); }
  bool setKeyValueLengths(ITensor* lengths) noexcept { return mImpl->setKeyValueLengths(lengths); }
  ITensor* getKeyValueLengths() const noexcept { return mImpl->getKeyValueLengths(); }

 protected:
  ~IAttention() noexcept override = default;

  apiv::VAttention* mImpl{};
};

// Inputs: data, cosines, sines, and optionally positions.
class CAMSHAFT_API IRotaryEmbeddingLayer : public ILayer {
 public:
  void setInterleaved(bool interleaved) noexcept { mImpl->setInterleaved(interleaved); }
  bool getInterleaved() const noexcept { return mImpl->getInterleaved(); }
  // Elements of each head that are rotated; 0: all.
  bool setRotaryEmbeddingDim(int32_t rotaryEmbeddingDim) noexcept {
    return mImpl->setRotaryEmbeddingDim(rotaryEmbeddingDim);
  }
  int32_t getRotaryEmbeddingDim() const noexcept { return mImpl->getRotaryEmbeddingDim(); }

 protected:
  ~IRotaryEmbeddingLayer() noexcept override = default;

  apiv::VRotaryEmbeddingLayer* mImpl{};
};

enum class KVCacheMode : int32_t {
  kLINEAR = 0,
};
template <>
constexpr int32_t EnumMax<KVCacheMode>() noexcept {
  return 1;
}

// Inputs: cache, update, and the index in the sequence to write it at. A run that would write
// outside of the cache fails. Refused: kPACKED_NHD.
class CAMSHAFT_API IKVCacheUpdateLayer : public ILayer {
 public:
  bool setCacheMode(KVCacheMode cacheMode) noexcept { return mImpl->setCacheMode(cacheMode); }
  KVCacheMode getCacheMode() const noexcept { return mImpl->getCacheMode(); }
  bool setUpdateForm(AttentionIOForm form) noexcept { return mImpl->setUpdateForm(form); }
  AttentionIOForm getUpdateForm() const noexcept { return mImpl->getUpdateForm(); }
  bool setUpdateLengths(ITensor* lengths) noexcept { return mImpl->setUpdateLengths(lengths); }
  ITensor* getUpdateLengths() const noexcept { return mImpl->getUpdateLengths(); }

 protected:
  ~IKVCacheUpdateLayer() noexcept override = default;

  apiv::VKVCacheUpdateLayer* mImpl{};
};

enum class MoEActType : int32_t {
  kNONE = 0,
  kSILU = 1,
};
template <>
constexpr int32_t EnumMax<MoEActType>() noexcept {
  return 2;
}

// A mixture of experts, each a gated product; inputs: hidden states, experts of a token, their
// scores. With g and u the results of gate and up, g is limited from above and u on both sides, and
// down gets g * sigmoid(alpha * g) * (u + beta), without the sigmoid for kNONE. Refused:
// quantising.
class CAMSHAFT_API IMoELayer : public ILayer {
 public:
  void setGatedWeights(ITensor& fcGateWeights, ITensor& fcUpWeights, ITensor& fcDownWeights,
                       MoEActType activationType) noexcept {
    mImpl->setGatedWeights(fcGateWeights, fcUpWeights, fcDownWeights, activationType);
  }
  void setGatedBiases(ITensor& fcGateBiases, ITensor& fcUpBiases, ITensor& fcDownBiases) noexcept {
    mImpl->setGatedBiases(fcGateBiases, fcUpBiases, fcDownBiases);
  }
  void setActivationType(MoEActType activationType) noexcept {
    mImpl->setActivationType(activationType);
  }
  MoEActType getActivationType() const noexcept { return mImpl->getActivationType(); }
  void setQuantizationStatic(ITensor& fcDownActivationScale, DataType dataType) noexcept {
    mImpl->setQuantizationStatic(fcDownActivationScale, dataType);
  }
  void setQuantizationDynamicDblQ(ITensor& fcDownActivationDblQScale, DataType dataType,
                                  const Dims& blockShape, DataType dynQOutputScaleType) noexcept {
    mImpl->setQuantizationDynamicDblQ(fcDownActivationDblQScale, dataType, blockShape,
                                      dynQOutputScaleType);
  }
  void setQuantizationToType(DataType type) noexcept { mImpl->setQuantizationToType(type); }
  DataType getQuantizationToType() const noexcept { return mImpl->getQuantizationToType(); }
  void setQuantizationBlockShape(const Dims& blockShape) noexcept {
    mImpl->setQuantizationBlockShape(blockShape);
  }
  Dims getQuantizationBlockShape() const noexcept { return mImpl->getQuantizationBlockShape(); }
  void setDynQOutputScaleType(DataType type) noexcept { mImpl->setDynQOutputScaleType(type); }
  DataType getDynQOutputScaleType() const noexcept { return mImpl->getDynQOutputScaleType(); }
  void setSwigluParams(float limit, float alpha, float beta) noexcept {
    mImpl->setSwigluParams(limit, alpha, beta);
  }
  void setSwigluParamLimit(float limit) noexcept { mImpl->setSwigluParamLimit(limit); }
  float getSwigluParamLimit() const noexcept { return mImpl->getSwigluParamLimit(); }
  void setSwigluParamAlpha(float alpha) noexcept { mImpl->setSwigluParamAlpha(alpha); }
  float getSwigluParamAlpha() const noexcept { return mImpl->getSwigluParamAlpha(); }
  void setSwigluParamBeta(float beta) noexcept { mImpl->setSwigluParamBeta(beta); }
  float getSwigluParamBeta() const noexcept { return mImpl->getSwigluParamBeta(); }
  void setInput(int32_t index, ITensor& tensor) noexcept { mImpl->setInput(index, tensor); }

 protected:
  ~IMoELayer() noexcept override = default;

  apiv::VMoELayer* mImpl{};
};

enum class CollectiveOperation : int32_t {
  kALL_REDUCE = 0,
  kALL_GATHER = 1,
  kBROADCAST = 2,
  kREDUCE = 3,
  kREDUCE_SCATTER = 4,
  // Of TensorRT 11.1.
  kALL_TO_ALL = 5,
  kGATHER = 6,
  kSCATTER = 7,
};
template <>
constexpr int32_t EnumMax<CollectiveOperation>() noexcept {
  return 8;
}

// Its input, as there is one rank. More are refused.
class CAMSHAFT_API IDistCollectiveLayer : public ILayer {
 protected:
  ~IDistCollectiveLayer() noexcept override = default;

  apiv::VDistCollectiveLayer* mImpl{};
};

}  // namespace nvinfer1
