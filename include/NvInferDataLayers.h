#pragma once

// Layers that make, move or reshape data.

#include "NvInferLayerBase.h"

namespace nvinfer1 {

class CAMSHAFT_API IConstantLayer : public ILayer {
 public:
  virtual void setWeights(Weights weights) noexcept = 0;
  virtual Weights getWeights() const noexcept = 0;
  virtual void setDimensions(const Dims& dimensions) noexcept = 0;
  virtual Dims getDimensions() const noexcept = 0;
};

class CAMSHAFT_API IIdentityLayer : public ILayer {};

class CAMSHAFT_API ICastLayer : public ILayer {
 public:
  virtual void setToType(DataType toType) noexcept = 0;
  virtual DataType getToType() const noexcept = 0;
};

// The dimensions of its input, as an int64 vector.
class CAMSHAFT_API IShapeLayer : public ILayer {};

class CAMSHAFT_API IConcatenationLayer : public ILayer {
 public:
  virtual void setAxis(int32_t axis) noexcept = 0;
  virtual int32_t getAxis() const noexcept = 0;
};

// Dimension i of the result is dimension order[i] of the source.
struct Permutation {
  int32_t order[Dims::MAX_DIMS];
};

// Transpose, then reshape, then transpose. Each part defaults to doing nothing. In the reshape, 0
// copies the input's dimension (unless zeroIsPlaceholder is off) and one -1 is worked out. An
// optional input 1 gives the reshape's dimensions at run time; getReshapeDimensions() then has
// nbDims == -1.
class CAMSHAFT_API IShuffleLayer : public ILayer {
 public:
  virtual void setFirstTranspose(Permutation permutation) noexcept = 0;
  virtual Permutation getFirstTranspose() const noexcept = 0;
  virtual void setReshapeDimensions(const Dims& dimensions) noexcept = 0;
  virtual Dims getReshapeDimensions() const noexcept = 0;
  virtual void setSecondTranspose(Permutation permutation) noexcept = 0;
  virtual Permutation getSecondTranspose() const noexcept = 0;
  virtual void setZeroIsPlaceholder(bool zeroIsPlaceholder) noexcept = 0;
  virtual bool getZeroIsPlaceholder() const noexcept = 0;
};

// Input 1 holds the axes, a constant vector (or scalar).
class CAMSHAFT_API ISqueezeLayer : public ILayer {};
class CAMSHAFT_API IUnsqueezeLayer : public ILayer {};

// What an index outside the data reads.
enum class SampleMode : int32_t {
  kSTRICT_BOUNDS = 0,  // nothing: it is an error
  kWRAP = 1,
  kCLAMP = 2,
  kFILL = 3,
  kREFLECT = 4,
};
template <>
constexpr int32_t EnumMax<SampleMode>() noexcept {
  return 5;
}

// Optional inputs 1 to 5 give start, size, stride, fill value and axes as tensors; a getter whose
// value comes from an input has nbDims == -1. Without axes, start, size and stride cover all
// dimensions.
class CAMSHAFT_API ISliceLayer : public ILayer {
 public:
  virtual void setStart(const Dims& start) noexcept = 0;
  virtual Dims getStart() const noexcept = 0;
  virtual void setSize(const Dims& size) noexcept = 0;
  virtual Dims getSize() const noexcept = 0;
  virtual void setStride(const Dims& stride) noexcept = 0;
  virtual Dims getStride() const noexcept = 0;
  virtual void setMode(SampleMode mode) noexcept = 0;
  virtual SampleMode getMode() const noexcept = 0;
  virtual void setAxes(const Dims& axes) noexcept = 0;
  virtual Dims getAxes() const noexcept = 0;
};

enum class GatherMode : int32_t {
  kDEFAULT = 0,  // ONNX Gather
  kELEMENT = 1,  // ONNX GatherElements
  kND = 2,       // ONNX GatherND
};
template <>
constexpr int32_t EnumMax<GatherMode>() noexcept {
  return 3;
}

// Input 0 is the data, input 1 the indices.
class CAMSHAFT_API IGatherLayer : public ILayer {
 public:
  virtual void setGatherAxis(int32_t axis) noexcept = 0;
  virtual int32_t getGatherAxis() const noexcept = 0;
  // Leading dimensions that data and indices share (the batch dimensions of kND).
  virtual void setNbElementWiseDims(int32_t elementWiseDims) noexcept = 0;
  virtual int32_t getNbElementWiseDims() const noexcept = 0;
  virtual void setMode(GatherMode mode) noexcept = 0;
  virtual GatherMode getMode() const noexcept = 0;
};

// Inputs: indices, [off value, on value], depth. The axis is that of the new dimension; -1 is last.
class CAMSHAFT_API IOneHotLayer : public ILayer {
 public:
  virtual void setAxis(int32_t axis) noexcept = 0;
  virtual int32_t getAxis() const noexcept = 0;
};

enum class InterpolationMode : int32_t {
  kNEAREST = 0,
  kLINEAR = 1,
  kCUBIC = 2,
};
template <>
constexpr int32_t EnumMax<InterpolationMode>() noexcept {
  return 3;
}

// Where output pixel x lies in the input, for lengths `in` and `out`.
enum class ResizeCoordinateTransformation : int32_t {
  kALIGN_CORNERS = 0,  // x * (in - 1) / (out - 1)
  kASYMMETRIC = 1,     // x * in / out
  kHALF_PIXEL = 2,     // (x + 0.5) * in / out - 0.5
};
template <>
constexpr int32_t EnumMax<ResizeCoordinateTransformation>() noexcept {
  return 3;
}

// Which input pixel an output of length 1 reads: what the transformation says, or the last.
enum class ResizeSelector : int32_t {
  kFORMULA = 0,
  kUPPER = 1,
};
template <>
constexpr int32_t EnumMax<ResizeSelector>() noexcept {
  return 2;
}

enum class ResizeRoundMode : int32_t {
  kHALF_UP = 0,
  kHALF_DOWN = 1,
  kFLOOR = 2,
  kCEIL = 3,
};
template <>
constexpr int32_t EnumMax<ResizeRoundMode>() noexcept {
  return 4;
}

// The output's size comes from dimensions, from scales (the one set last), or from an optional
// input 1 at run time.
class CAMSHAFT_API IResizeLayer : public ILayer {
 public:
  virtual void setOutputDimensions(const Dims& dimensions) noexcept = 0;
  virtual Dims getOutputDimensions() const noexcept = 0;
  virtual void setScales(const float* scales, int32_t nbScales) noexcept = 0;
  // Writes up to `size` scales and returns how many there are, -1 when none were set.
  virtual int32_t getScales(int32_t size, float* scales) const noexcept = 0;
  virtual void setResizeMode(InterpolationMode interpolationMode) noexcept = 0;
  virtual InterpolationMode getResizeMode() const noexcept = 0;
  virtual void setCoordinateTransformation(
      ResizeCoordinateTransformation coordTransform) noexcept = 0;
  virtual ResizeCoordinateTransformation getCoordinateTransformation() const noexcept = 0;
  virtual void setSelectorForSinglePixel(ResizeSelector selector) noexcept = 0;
  virtual ResizeSelector getSelectorForSinglePixel() const noexcept = 0;
  virtual void setNearestRounding(ResizeRoundMode value) noexcept = 0;
  virtual ResizeRoundMode getNearestRounding() const noexcept = 0;
  virtual void setCubicCoeff(float A) noexcept = 0;
  virtual float getCubicCoeff() const noexcept = 0;
  virtual void setExcludeOutside(bool excludeFlag) noexcept = 0;
  virtual bool getExcludeOutside() const noexcept = 0;
};

}  // namespace nvinfer1
