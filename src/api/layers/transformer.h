// Layers of language models beside attention: positions, the cache, experts, and work that several
// devices share.
#pragma once

#include <limits>

#include "api/layers/layer.h"

namespace camshaft::api {

struct RotaryEmbeddingParams {
  static constexpr auto kType = nvinfer1::LayerType::kROTARY_EMBEDDING;
  static constexpr int32_t kMaxInputs = 4;
  bool interleaved = false;
  int32_t rotated = 0;  // elements of each head; 0: all
  std::vector<Value*> emit(Emission& at) const;
};

class RotaryEmbeddingLayer
    : public LayerOf<nvinfer1::IRotaryEmbeddingLayer, RotaryEmbeddingParams> {
 public:
  using LayerOf::LayerOf;
  void setInterleaved(bool interleaved) noexcept override {
    set(&Params::interleaved, interleaved);
  }
  bool getInterleaved() const noexcept override { return params_.interleaved; }
  bool setRotaryEmbeddingDim(int32_t size) noexcept override { return set(&Params::rotated, size); }
  int32_t getRotaryEmbeddingDim() const noexcept override { return params_.rotated; }
};

struct KVCacheUpdateParams {
  static constexpr auto kType = nvinfer1::LayerType::kKVCACHE_UPDATE;
  static constexpr int32_t kMaxInputs = 3;
  nvinfer1::KVCacheMode mode = nvinfer1::KVCacheMode::kLINEAR;
  std::vector<Value*> emit(Emission& at) const;
};

class KVCacheUpdateLayer : public LayerOf<nvinfer1::IKVCacheUpdateLayer, KVCacheUpdateParams> {
 public:
  using LayerOf::LayerOf;
  bool setCacheMode(nvinfer1::KVCacheMode mode) noexcept override {
    return set(&Params::mode, mode);
  }
  nvinfer1::KVCacheMode getCacheMode() const noexcept override { return params_.mode; }

  // Updates that are packed one after the other, which have lengths, are not there yet.
  bool setUpdateForm(nvinfer1::AttentionIOForm form) noexcept override;
  nvinfer1::AttentionIOForm getUpdateForm() const noexcept override {
    return nvinfer1::AttentionIOForm::kPADDED_BHND;
  }
  bool setUpdateLengths(nvinfer1::ITensor* lengths) noexcept override;
  nvinfer1::ITensor* getUpdateLengths() const noexcept override { return nullptr; }
};

// Inputs: hidden states, experts, scores, weights of gate, up and down, biases of these.
struct MoEParams {
  static constexpr auto kType = nvinfer1::LayerType::kMOE;
  static constexpr int32_t kMaxInputs = 9;
  enum : int32_t { kWeights = 3, kBiases = 6 };
  nvinfer1::MoEActType activation = nvinfer1::MoEActType::kNONE;
  float limit = std::numeric_limits<float>::infinity(), alpha = 1, beta = 0;
  std::vector<Value*> emit(Emission& at) const;
};

class MoELayer : public LayerOf<nvinfer1::IMoELayer, MoEParams> {
 public:
  using LayerOf::LayerOf;
  void setGatedWeights(nvinfer1::ITensor& gate, nvinfer1::ITensor& up, nvinfer1::ITensor& down,
                       nvinfer1::MoEActType activation) noexcept override;
  void setGatedBiases(nvinfer1::ITensor& gate, nvinfer1::ITensor& up,
                      nvinfer1::ITensor& down) noexcept override;
  void setActivationType(nvinfer1::MoEActType activation) noexcept override {
    set(&Params::activation, activation);
  }
  nvinfer1::MoEActType getActivationType() const noexcept override { return params_.activation; }
  void setSwigluParams(float limit, float alpha, float beta) noexcept override;
  void setSwigluParamLimit(float limit) noexcept override { set(&Params::limit, limit); }
  float getSwigluParamLimit() const noexcept override { return params_.limit; }
  void setSwigluParamAlpha(float alpha) noexcept override { set(&Params::alpha, alpha); }
  float getSwigluParamAlpha() const noexcept override { return params_.alpha; }
  void setSwigluParamBeta(float beta) noexcept override { set(&Params::beta, beta); }
  float getSwigluParamBeta() const noexcept override { return params_.beta; }
  void setInput(int32_t index, nvinfer1::ITensor& tensor) noexcept override {
    LayerCore::setInput(index, tensor);
  }

  // Experts work in the type of their inputs: quantisation is not there yet.
  void setQuantizationStatic(nvinfer1::ITensor& scale, nvinfer1::DataType type) noexcept override;
  void setQuantizationDynamicDblQ(nvinfer1::ITensor& scale, nvinfer1::DataType type,
                                  const nvinfer1::Dims& blockShape,
                                  nvinfer1::DataType scaleType) noexcept override;
  void setQuantizationToType(nvinfer1::DataType type) noexcept override;
  nvinfer1::DataType getQuantizationToType() const noexcept override {
    return nvinfer1::DataType::kFLOAT;
  }
  void setQuantizationBlockShape(const nvinfer1::Dims& blockShape) noexcept override;
  nvinfer1::Dims getQuantizationBlockShape() const noexcept override { return {}; }
  void setDynQOutputScaleType(nvinfer1::DataType type) noexcept override;
  nvinfer1::DataType getDynQOutputScaleType() const noexcept override {
    return nvinfer1::DataType::kFLOAT;
  }

 private:
  void setThree(int32_t first, nvinfer1::ITensor& gate, nvinfer1::ITensor& up,
                nvinfer1::ITensor& down) noexcept;
  void refuseQuantization() const noexcept;
};

// What an operation on all ranks is on one: its input.
struct DistCollectiveParams {
  static constexpr auto kType = nvinfer1::LayerType::kDIST_COLLECTIVE;
  static constexpr int32_t kMaxInputs = 1;
  std::vector<Value*> emit(Emission& at) const { return {at.input(0)}; }
};
using DistCollectiveLayer = LayerOf<nvinfer1::IDistCollectiveLayer, DistCollectiveParams>;

}  // namespace camshaft::api
