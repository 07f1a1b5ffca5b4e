#pragma once

// Layers that sample images and boxes: resize, grid sample, non-maximum suppression.

#include "NvInferDataLayers.h"

namespace nvinfer1 {

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
  void setOutputDimensions(const Dims& dimensions) noexcept {
    mImpl->setOutputDimensions(dimensions);
  }
  Dims getOutputDimensions() const noexcept { return mImpl->getOutputDimensions(); }
  void setScales(const float* scales, int32_t nbScales) noexcept {
    mImpl->setScales(scales, nbScales);
  }
  // Writes up to `size` scales and returns how many there are, -1 when none were set.
  int32_t getScales(int32_t size, float* scales) const noexcept {
    return mImpl->getScales(size, scales);
  }
  void setResizeMode(InterpolationMode interpolationMode) noexcept {
    mImpl->setResizeMode(interpolationMode);
  }
  InterpolationMode getResizeMode() const noexcept { return mImpl->getResizeMode(); }
  void setCoordinateTransformation(ResizeCoordinateTransformation coordTransform) noexcept {
    mImpl->setCoordinateTransformation(coordTransform);
  }
  ResizeCoordinateTransformation getCoordinateTransformation() const noexcept {
    return mImpl->getCoordinateTransformation();
  }
  void setSelectorForSinglePixel(ResizeSelector selector) noexcept {
    mImpl->setSelectorForSinglePixel(selector);
  }
  ResizeSelector getSelectorForSinglePixel() const noexcept {
    return mImpl->getSelectorForSinglePixel();
  }
  void setNearestRounding(ResizeRoundMode value) noexcept { mImpl->setNearestRounding(value); }
  ResizeRoundMode getNearestRounding() const noexcept { return mImpl->getNearestRounding(); }
  void setCubicCoeff(float A) noexcept { mImpl->setCubicCoeff(A); }
  float getCubicCoeff() const noexcept { return mImpl->getCubicCoeff(); }
  void setExcludeOutside(bool excludeFlag) noexcept { mImpl->setExcludeOutside(excludeFlag); }
  bool getExcludeOutside() const noexcept { return mImpl->getExcludeOutside(); }

 protected:
  ~IResizeLayer() noexcept override = default;

  apiv::VResizeLayer* mImpl{};
};

// Input 1 is the grid, with coordinates from -1 to 1.
class CAMSHAFT_API IGridSampleLayer : public ILayer {
 public:
  void setInterpolationMode(InterpolationMode mode) noexcept { mImpl->setInterpolationMode(mode); }
  InterpolationMode getInterpolationMode() const noexcept { return mImpl->getInterpolationMode(); }
  void setAlignCorners(bool alignCorners) noexcept { mImpl->setAlignCorners(alignCorners); }
  bool getAlignCorners() const noexcept { return mImpl->getAlignCorners(); }
  bool setSampleMode(SampleMode mode) noexcept { return mImpl->setSampleMode(mode); }
  SampleMode getSampleMode() const noexcept { return mImpl->getSampleMode(); }

 protected:
  ~IGridSampleLayer() noexcept override = default;

  apiv::VGridSampleLayer* mImpl{};
};

enum class BoundingBoxFormat : int32_t {
  kCORNER_PAIRS = 0,  // x1, y1, x2, y2
  kCENTER_SIZES = 1,  // x, y of the centre, width, height
};
template <>
constexpr int32_t EnumMax<BoundingBoxFormat>() noexcept {
  return 2;
}

// Inputs: boxes, scores, boxes per class at most, and optionally the thresholds of overlap and
// score. Outputs: indices of batch, class and box, and how many there are.
class CAMSHAFT_API INMSLayer : public ILayer {
 public:
  void setBoundingBoxFormat(BoundingBoxFormat fmt) noexcept { mImpl->setBoundingBoxFormat(fmt); }
  BoundingBoxFormat getBoundingBoxFormat() const noexcept { return mImpl->getBoundingBoxFormat(); }
  // Boxes of a batch that are looked at, over all classes, best first; 5000 unless set.
  void setTopKBoxLimit(int32_t limit) noexcept { mImpl->setTopKBoxLimit(limit); }
  int32_t getTopKBoxLimit() const noexcept { return mImpl->getTopKBoxLimit(); }
  // kINT32 or kINT64; false for anything else.
  bool setIndicesType(DataType type) noexcept { return mImpl->setIndicesType(type); }
  DataType getIndicesType() const noexcept { return mImpl->getIndicesType(); }

 protected:
  ~INMSLayer() noexcept override = default;

  apiv::VNMSLayer* mImpl{};
};

}  // namespace nvinfer1
