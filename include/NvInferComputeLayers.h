#pragma once

// Layers that compute: windows, pointwise, normalisations, reductions, products.

#include "NvInferLayerBase.h"

namespace nvinfer1 {

// Rounding and padding of sliding windows. The SAME modes compute padding so that the output has
// ceil(input / stride) elements, the odd one after (upper) or before (lower) the data.
enum class PaddingMode : int32_t {
  kEXPLICIT_ROUND_DOWN = 0,
  kEXPLICIT_ROUND_UP = 1,
  kSAME_UPPER = 2,
  kSAME_LOWER = 3,
};
template <>
constexpr int32_t EnumMax<PaddingMode>() noexcept {
  return 4;
}

namespace impl {

// What convolution, deconvolution and pooling share: a window moved over the spatial dimensions.
class CAMSHAFT_API IWindowLayer : public ILayer {
 public:
  virtual void setStrideNd(const Dims& stride) noexcept = 0;
  virtual Dims getStrideNd() const noexcept = 0;
  virtual void setPrePadding(const Dims& padding) noexcept = 0;
  virtual Dims getPrePadding() const noexcept = 0;
  virtual void setPostPadding(const Dims& padding) noexcept = 0;
  virtual Dims getPostPadding() const noexcept = 0;
  // Both sides at once; the getter reports an error when they differ.
  virtual void setPaddingNd(const Dims& padding) noexcept = 0;
  virtual Dims getPaddingNd() const noexcept = 0;
  virtual void setPaddingMode(PaddingMode paddingMode) noexcept = 0;
  virtual PaddingMode getPaddingMode() const noexcept = 0;
};

// What convolution and deconvolution share. Kernel and bias are weights, or inputs 1 and 2 when
// their weights are empty.
class CAMSHAFT_API IKernelLayer : public IWindowLayer {
 public:
  virtual void setNbOutputMaps(int64_t nbOutputMaps) noexcept = 0;
  virtual int64_t getNbOutputMaps() const noexcept = 0;
  virtual void setNbGroups(int64_t nbGroups) noexcept = 0;
  virtual int64_t getNbGroups() const noexcept = 0;
  virtual void setKernelSizeNd(const Dims& kernelSize) noexcept = 0;
  virtual Dims getKernelSizeNd() const noexcept = 0;
  virtual void setDilationNd(const Dims& dilation) noexcept = 0;
  virtual Dims getDilationNd() const noexcept = 0;
  virtual void setKernelWeights(Weights weights) noexcept = 0;
  virtual Weights getKernelWeights() const noexcept = 0;
  virtual void setBiasWeights(Weights weights) noexcept = 0;
  virtual Weights getBiasWeights() const noexcept = 0;
};

}  // namespace impl

// Kernel weights are [outputs, channels / groups, spatial...].
class CAMSHAFT_API IConvolutionLayer : public impl::IKernelLayer {};

// Kernel weights are [channels, outputs / groups, spatial...].
class CAMSHAFT_API IDeconvolutionLayer : public impl::IKernelLayer {};

enum class PoolingType : int32_t {
  kMAX = 0,
  kAVERAGE = 1,
  kMAX_AVERAGE_BLEND = 2,
};
template <>
constexpr int32_t EnumMax<PoolingType>() noexcept {
  return 3;
}

class CAMSHAFT_API IPoolingLayer : public impl::IWindowLayer {
 public:
  virtual void setPoolingType(PoolingType type) noexcept = 0;
  virtual PoolingType getPoolingType() const noexcept = 0;
  virtual void setWindowSizeNd(const Dims& windowSize) noexcept = 0;
  virtual Dims getWindowSizeNd() const noexcept = 0;
  // kMAX_AVERAGE_BLEND: (1 - factor) * max + factor * average.
  virtual void setBlendFactor(float blendFactor) noexcept = 0;
  virtual float getBlendFactor() const noexcept = 0;
  virtual void setAverageCountExcludesPadding(bool exclusive) noexcept = 0;
  virtual bool getAverageCountExcludesPadding() const noexcept = 0;
};

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
  virtual void setActivationType(ActivationType type) noexcept = 0;
  virtual ActivationType getActivationType() const noexcept = 0;
  virtual void setAlpha(float alpha) noexcept = 0;
  virtual void setBeta(float beta) noexcept = 0;
  virtual float getAlpha() const noexcept = 0;
  virtual float getBeta() const noexcept = 0;
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
  virtual void setMode(ScaleMode mode) noexcept = 0;
  virtual ScaleMode getMode() const noexcept = 0;
  virtual void setShift(Weights shift) noexcept = 0;
  virtual Weights getShift() const noexcept = 0;
  virtual void setScale(Weights scale) noexcept = 0;
  virtual Weights getScale() const noexcept = 0;
  virtual void setPower(Weights power) noexcept = 0;
  virtual Weights getPower() const noexcept = 0;
  virtual int32_t getChannelAxis() const noexcept = 0;
  virtual void setChannelAxis(int32_t channelAxis) noexcept = 0;
};

// The mask has one bit. A new layer uses dimension max(0, rank - 3).
class CAMSHAFT_API ISoftMaxLayer : public ILayer {
 public:
  virtual void setAxes(uint32_t axes) noexcept = 0;
  virtual uint32_t getAxes() const noexcept = 0;
};

class CAMSHAFT_API INormalizationLayer : public ILayer {
 public:
  virtual void setEpsilon(float eps) noexcept = 0;
  virtual float getEpsilon() const noexcept = 0;
  virtual void setAxes(uint32_t axesMask) noexcept = 0;
  virtual uint32_t getAxes() const noexcept = 0;
  // More than 1 makes it a group normalisation over the channels.
  virtual void setNbGroups(int64_t nbGroups) noexcept = 0;
  virtual int64_t getNbGroups() const noexcept = 0;
  // Sums are kept in kFLOAT, the only precision taken.
  virtual void setComputePrecision(DataType type) noexcept = 0;
  virtual DataType getComputePrecision() const noexcept = 0;
  // Whether addNormalizationV2 made it: a group normalisation's scale and bias then hold one value
  // per channel, otherwise one per group.
  virtual bool isV2() const noexcept = 0;
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
  virtual void setOperation(ElementWiseOperation op) noexcept = 0;
  virtual ElementWiseOperation getOperation() const noexcept = 0;
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
  virtual void setOperation(UnaryOperation op) noexcept = 0;
  virtual UnaryOperation getOperation() const noexcept = 0;
};

// x >= 0 ? x : slope * x, with the slope broadcast to x.
class CAMSHAFT_API IParametricReLULayer : public ILayer {};

// condition ? then : else, element by element, each broadcast.
class CAMSHAFT_API ISelectLayer : public ILayer {};

enum class ReduceOperation : int32_t {
  kSUM = 0,
  kPROD = 1,
  kMAX = 2,
  kMIN = 3,
  kAVG = 4,
  kNONE = 5,  // for collectives; a reduce layer refuses it
};
template <>
constexpr int32_t EnumMax<ReduceOperation>() noexcept {
  return 6;
}

class CAMSHAFT_API IReduceLayer : public ILayer {
 public:
  virtual void setOperation(ReduceOperation op) noexcept = 0;
  virtual ReduceOperation getOperation() const noexcept = 0;
  virtual void setReduceAxes(uint32_t reduceAxes) noexcept = 0;
  virtual uint32_t getReduceAxes() const noexcept = 0;
  virtual void setKeepDimensions(bool keepDimensions) noexcept = 0;
  virtual bool getKeepDimensions() const noexcept = 0;
};

enum class TopKOperation : int32_t {
  kMAX = 0,
  kMIN = 1,
};
template <>
constexpr int32_t EnumMax<TopKOperation>() noexcept {
  return 2;
}

// Output 0 holds the values, best first, output 1 their indices. The mask has one bit. An optional
// input 1 gives k at run time.
class CAMSHAFT_API ITopKLayer : public ILayer {
 public:
  virtual void setOperation(TopKOperation op) noexcept = 0;
  virtual TopKOperation getOperation() const noexcept = 0;
  virtual void setK(int32_t k) noexcept = 0;
  virtual int32_t getK() const noexcept = 0;
  virtual void setReduceAxes(uint32_t reduceAxes) noexcept = 0;
  virtual uint32_t getReduceAxes() const noexcept = 0;
  // kINT32 or kINT64; false for anything else.
  virtual bool setIndicesType(DataType type) noexcept = 0;
  virtual DataType getIndicesType() const noexcept = 0;
};

enum class CumulativeOperation : int32_t {
  kSUM = 0,
};
template <>
constexpr int32_t EnumMax<CumulativeOperation>() noexcept {
  return 1;
}

// Input 1 is the axis, a constant scalar.
class CAMSHAFT_API ICumulativeLayer : public ILayer {
 public:
  virtual bool setOperation(CumulativeOperation op) noexcept = 0;
  virtual CumulativeOperation getOperation() const noexcept = 0;
  virtual void setExclusive(bool exclusive) noexcept = 0;
  virtual bool getExclusive() const noexcept = 0;
  virtual void setReverse(bool reverse) noexcept = 0;
  virtual bool getReverse() const noexcept = 0;
};

// How an operand is read: as it is, with its last two dimensions swapped, or as a batch of vectors
// (last dimension the vector).
enum class MatrixOperation : int32_t {
  kNONE = 0,
  kTRANSPOSE = 1,
  kVECTOR = 2,
};
template <>
constexpr int32_t EnumMax<MatrixOperation>() noexcept {
  return 3;
}

// index is 0 for the left operand and 1 for the right. Batch dimensions are broadcast.
class CAMSHAFT_API IMatrixMultiplyLayer : public ILayer {
 public:
  virtual void setOperation(int32_t index, MatrixOperation op) noexcept = 0;
  virtual MatrixOperation getOperation(int32_t index) const noexcept = 0;
};

class CAMSHAFT_API IEinsumLayer : public ILayer {
 public:
  // False when the equation does not parse or does not fit the inputs.
  virtual bool setEquation(const char* equation) noexcept = 0;
  virtual const char* getEquation() const noexcept = 0;
};

}  // namespace nvinfer1
