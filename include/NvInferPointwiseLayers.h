#pragma once

// Layers that compute element by element.

#include "NvInferLayerBase.h"

namespace nvinfer1 {

enum class ActivationType : int32_t {
  kRELU = 0,
  kSIGMOID = 1,
  kTANH = 2,
  kLEAKY_RELU = 3,         // x >= 0 ? x : alpha * x
  kELU = 4,                // x >= 0 ? x : alpha * (exp(x) - 1)
  kSELU = 5,               // x > 0 ? beta * x : beta * alpha * (exp(x) - 1)
  kSOFTSIGN = 6,           // x / (1 + |x|)
  kSOFTPLUS = 7,           // alpha * log(exp(beta * x) + 1)
  kCLIP = 8,               // max(alpha, min(beta, x))
  kHARD_SIGMOID = 9,       // max(0, min(1, alpha * x + beta))
  kSCALED_TANH = 10,       // alpha * tanh(beta * x)
  kTHRESHOLDED_RELU = 11,  // x > alpha ? x : 0
  kGELU_ERF = 12,
  kGELU_TANH = 13,
};
template <>
constexpr int32_t EnumMax<ActivationType>() noexcept {
  return 14;
}

class CAMSHAFT_API IActivationLayer : public ILayer {
 public:
  void setActivationType(ActivationType type) noexcept { mImpl->setActivationType(type); }
  ActivationType getActivationType() const noexcept { return mImpl->getActivationType(); }
  void setAlpha(float alpha) noexcept { mImpl->setAlpha(alpha); }
  void setBeta(float beta) noexcept { mImpl->setBeta(beta); }
  float getAlpha() const noexcept { return mImpl->getAlpha(); }
  float getBeta() const noexcept { return mImpl->getBeta(); }

 protected:
  ~IActivationLayer() noexcept override = default;

  apiv::VActivationLayer* mImpl{};
};

enum class ScaleMode : int32_t {
  kUNIFORM = 0,
  kCHANNEL = 1,
  kELEMENTWISE = 2,
};
template <>
constexpr int32_t EnumMax<ScaleMode>() noexcept {
  return 3;
}

// (x * scale + shift) ^ power; empty weights stand for 1, 0 and 1.
class CAMSHAFT_API IScaleLayer : public ILayer {
 public:
  void setMode(ScaleMode mode) noexcept { mImpl->setMode(mode); }
  ScaleMode getMode() const noexcept { return mImpl->getMode(); }
  void setShift(Weights shift) noexcept { mImpl->setShift(shift); }
  Weights getShift() const noexcept { return mImpl->getShift(); }
  void setScale(Weights scale) noexcept { mImpl->setScale(scale); }
  Weights getScale() const noexcept { return mImpl->getScale(); }
  void setPower(Weights power) noexcept { mImpl->setPower(power); }
  Weights getPower() const noexcept { return mImpl->getPower(); }
  int32_t getChannelAxis() const noexcept { return mImpl->getChannelAxis(); }
  void setChannelAxis(int32_t channelAxis) noexcept { mImpl->setChannelAxis(channelAxis); }

 protected:
  ~IScaleLayer() noexcept override = default;

  apiv::VScaleLayer* mImpl{};
};

enum class ElementWiseOperation : int32_t {
  kSUM = 0,
  kPROD = 1,
  kMAX = 2,
  kMIN = 3,
  kSUB = 4,
  kDIV = 5,
  kPOW = 6,
  kFLOOR_DIV = 7,
  kAND = 8,
  kOR = 9,
  kXOR = 10,
  kEQUAL = 11,
  kGREATER = 12,
  kLESS = 13,
};
template <>
constexpr int32_t EnumMax<ElementWiseOperation>() noexcept {
  return 14;
}

// Two inputs of equal rank; a dimension of size 1 is broadcast.
class CAMSHAFT_API IElementWiseLayer : public ILayer {
 public:
  void setOperation(ElementWiseOperation op) noexcept { mImpl->setOperation(op); }
  ElementWiseOperation getOperation() const noexcept { return mImpl->getOperation(); }

 protected:
  ~IElementWiseLayer() noexcept override = default;

  apiv::VElementWiseLayer* mImpl{};
};

enum class UnaryOperation : int32_t {
  kEXP = 0,
  kLOG = 1,
  kSQRT = 2,
  kRECIP = 3,
  kABS = 4,
  kNEG = 5,
  kSIN = 6,
  kCOS = 7,
  kTAN = 8,
  kSINH = 9,
  kCOSH = 10,
  kASIN = 11,
  kACOS = 12,
  kATAN = 13,
  kASINH = 14,
  kACOSH = 15,
  kATANH = 16,
  kCEIL = 17,
  kFLOOR = 18,
  kERF = 19,
  kNOT = 20,
  kSIGN = 21,
  kROUND = 22,  // halves go to the even neighbour
  kISINF = 23,
  kISNAN = 24,
};
template <>
constexpr int32_t EnumMax<UnaryOperation>() noexcept {
  return 25;
}

class CAMSHAFT_API IUnaryLayer : public ILayer {
 public:
  void setOperation(UnaryOperation op) noexcept { mImpl->setOperation(op); }
  UnaryOperation getOperation() const noexcept { return mImpl->getOperation(); }

 protected:
  ~IUnaryLayer() noexcept override = default;

  apiv::VUnaryLayer* mImpl{};
};

// x >= 0 ? x : slope * x, with the slope broadcast to x.
class CAMSHAFT_API IParametricReLULayer : public ILayer {
 protected:
  ~IParametricReLULayer() noexcept override = default;

  apiv::VParametricReLULayer* mImpl{};
};

// condition ? then : else, element by element, each broadcast.
class CAMSHAFT_API ISelectLayer : public ILayer {
 protected:
  ~ISelectLayer() noexcept override = default;

  apiv::VSelectLayer* mImpl{};
};

class CAMSHAFT_API ICastLayer : public ILayer {
 public:
  void setToType(DataType toType) noexcept { mImpl->setToType(toType); }
  DataType getToType() const noexcept { return mImpl->getToType(); }

 protected:
  ~ICastLayer() noexcept override = default;

  apiv::VCastLayer* mImpl{};
};

class CAMSHAFT_API IIdentityLayer : public ILayer {
 protected:
  ~IIdentityLayer() noexcept override = default;

  apiv::VIdentityLayer* mImpl{};
};

}  // namespace nvinfer1
