// Layers that compute element by element.
#pragma once

#include "api/layers/layer.h"

namespace camshaft::api {

struct ActivationParams {
  static constexpr auto kType = nvinfer1::LayerType::kACTIVATION;
  static constexpr int32_t kMaxInputs = 1;
  nvinfer1::ActivationType activation = nvinfer1::ActivationType::kRELU;
  float alpha = 0, beta = 0;
  std::vector<Value*> emit(Emission& at) const;
};

class ActivationLayer : public LayerOf<nvinfer1::IActivationLayer, ActivationParams> {
 public:
  using LayerOf::LayerOf;
  void setActivationType(nvinfer1::ActivationType type) noexcept override {
    set(&Params::activation, type);
  }
  nvinfer1::ActivationType getActivationType() const noexcept override {
    return params_.activation;
  }
  void setAlpha(float alpha) noexcept override { set(&Params::alpha, alpha); }
  void setBeta(float beta) noexcept override { set(&Params::beta, beta); }
  float getAlpha() const noexcept override { return params_.alpha; }
  float getBeta() const noexcept override { return params_.beta; }
};

struct UnaryParams {
  static constexpr auto kType = nvinfer1::LayerType::kUNARY;
  static constexpr int32_t kMaxInputs = 1;
  nvinfer1::UnaryOperation operation = nvinfer1::UnaryOperation::kEXP;
  std::vector<Value*> emit(Emission& at) const;
};

class UnaryLayer : public LayerOf<nvinfer1::IUnaryLayer, UnaryParams> {
 public:
  using LayerOf::LayerOf;
  void setOperation(nvinfer1::UnaryOperation operation) noexcept override {
    set(&Params::operation, operation);
  }
  nvinfer1::UnaryOperation getOperation() const noexcept override { return params_.operation; }
};

struct ElementWiseParams {
  static constexpr auto kType = nvinfer1::LayerType::kELEMENTWISE;
  static constexpr int32_t kMaxInputs = 2;
  nvinfer1::ElementWiseOperation operation = nvinfer1::ElementWiseOperation::kSUM;
  std::vector<Value*> emit(Emission& at) const;
};

class ElementWiseLayer : public LayerOf<nvinfer1::IElementWiseLayer, ElementWiseParams> {
 public:
  using LayerOf::LayerOf;
  void setOperation(nvinfer1::ElementWiseOperation operation) noexcept override {
    set(&Params::operation, operation);
  }
  nvinfer1::ElementWiseOperation getOperation() const noexcept override {
    return params_.operation;
  }
};

struct CastParams {
  static constexpr auto kType = nvinfer1::LayerType::kCAST;
  static constexpr int32_t kMaxInputs = 1;
  nvinfer1::DataType type = nvinfer1::DataType::kFLOAT;
  std::vector<Value*> emit(Emission& at) const;
};

class CastLayer : public LayerOf<nvinfer1::ICastLayer, CastParams> {
 public:
  using LayerOf::LayerOf;
  void setToType(nvinfer1::DataType type) noexcept override { set(&Params::type, type); }
  nvinfer1::DataType getToType() const noexcept override { return params_.type; }
};

struct SelectParams {
  static constexpr auto kType = nvinfer1::LayerType::kSELECT;
  static constexpr int32_t kMaxInputs = 3;
  std::vector<Value*> emit(Emission& at) const;
};
using SelectLayer = LayerOf<nvinfer1::ISelectLayer, SelectParams>;

struct ParametricReLUParams {
  static constexpr auto kType = nvinfer1::LayerType::kPARAMETRIC_RELU;
  static constexpr int32_t kMaxInputs = 2;
  std::vector<Value*> emit(Emission& at) const;
};
using ParametricReLULayer = LayerOf<nvinfer1::IParametricReLULayer, ParametricReLUParams>;

struct IdentityParams {
  static constexpr auto kType = nvinfer1::LayerType::kIDENTITY;
  static constexpr int32_t kMaxInputs = 1;
  std::vector<Value*> emit(Emission& at) const {
    return {at.add(&ops::Identity, {at.input(0)}, NoAttrs{})};
  }
};
using IdentityLayer = LayerOf<nvinfer1::IIdentityLayer, IdentityParams>;

// (x * scale + shift) ^ power
struct ScaleParams {
  static constexpr auto kType = nvinfer1::LayerType::kSCALE;
  static constexpr int32_t kMaxInputs = 1;
  nvinfer1::ScaleMode mode = nvinfer1::ScaleMode::kUNIFORM;
  WeightsCopy shift, scale, power;
  int32_t channelAxis = 1;
  std::vector<Value*> emit(Emission& at) const;

 private:
  camshaft::Dims weightDims(const Emission& at) const;
};

class ScaleLayer : public LayerOf<nvinfer1::IScaleLayer, ScaleParams> {
 public:
  using LayerOf::LayerOf;
  void setMode(nvinfer1::ScaleMode mode) noexcept override { set(&Params::mode, mode); }
  nvinfer1::ScaleMode getMode() const noexcept override { return params_.mode; }
  void setShift(nvinfer1::Weights weights) noexcept override {
    setWeights(&Params::shift, weights);
  }
  nvinfer1::Weights getShift() const noexcept override { return params_.shift.view(); }
  void setScale(nvinfer1::Weights weights) noexcept override {
    setWeights(&Params::scale, weights);
  }
  nvinfer1::Weights getScale() const noexcept override { return params_.scale.view(); }
  void setPower(nvinfer1::Weights weights) noexcept override {
    setWeights(&Params::power, weights);
  }
  nvinfer1::Weights getPower() const noexcept override { return params_.power.view(); }
  int32_t getChannelAxis() const noexcept override { return params_.channelAxis; }
  void setChannelAxis(int32_t axis) noexcept override { set(&Params::channelAxis, axis); }

 private:
  void setWeights(WeightsCopy Params::* field, const nvinfer1::Weights& weights) noexcept {
    change([&](Params& params) { params.*field = WeightsCopy(weights); });
  }
};

// A Pointwise node of one scalar operation as such a layer; null when there is no layer for it.
std::unique_ptr<LayerCore> pointwiseLayerFor(Network& network, const Node& node);

}  // namespace camshaft::api
