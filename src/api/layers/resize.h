// Layers that sample between elements: resize, grid sample.
#pragma once

#include "api/layers/layer.h"
#include "ops/sample.h"

namespace camshaft::api {

struct ResizeParams {
  static constexpr auto kType = nvinfer1::LayerType::kRESIZE;
  static constexpr int32_t kMaxInputs = 2;
  std::vector<Dim> sizes;  // at most one of sizes and scales is set
  std::vector<float> scales;
  nvinfer1::InterpolationMode mode = nvinfer1::InterpolationMode::kNEAREST;
  nvinfer1::ResizeCoordinateTransformation coordinates =
      nvinfer1::ResizeCoordinateTransformation::kASYMMETRIC;
  nvinfer1::ResizeSelector selector = nvinfer1::ResizeSelector::kFORMULA;
  nvinfer1::ResizeRoundMode rounding = nvinfer1::ResizeRoundMode::kFLOOR;
  float cubicCoefficient = -0.75f;
  bool excludeOutside = false;
  std::vector<Value*> emit(Emission& at) const;
  void read(const Node& node);
  static bool canRead(const ResizeAttrs& attrs);  // the others have no such layer
};

class ResizeLayer : public LayerOf<nvinfer1::IResizeLayer, ResizeParams> {
 public:
  using LayerOf::LayerOf;
  void setOutputDimensions(const nvinfer1::Dims& dims) noexcept override;
  nvinfer1::Dims getOutputDimensions() const noexcept override;
  void setScales(const float* scales, int32_t count) noexcept override;
  int32_t getScales(int32_t size, float* scales) const noexcept override;
  void setResizeMode(nvinfer1::InterpolationMode mode) noexcept override {
    set(&Params::mode, mode);
  }
  nvinfer1::InterpolationMode getResizeMode() const noexcept override { return params_.mode; }
  void setCoordinateTransformation(
      nvinfer1::ResizeCoordinateTransformation transformation) noexcept override {
    set(&Params::coordinates, transformation);
  }
  nvinfer1::ResizeCoordinateTransformation getCoordinateTransformation() const noexcept override {
    return params_.coordinates;
  }
  void setSelectorForSinglePixel(nvinfer1::ResizeSelector selector) noexcept override {
    set(&Params::selector, selector);
  }
  nvinfer1::ResizeSelector getSelectorForSinglePixel() const noexcept override {
    return params_.selector;
  }
  void setNearestRounding(nvinfer1::ResizeRoundMode rounding) noexcept override {
    set(&Params::rounding, rounding);
  }
  nvinfer1::ResizeRoundMode getNearestRounding() const noexcept override {
    return params_.rounding;
  }
  void setCubicCoeff(float coefficient) noexcept override {
    set(&Params::cubicCoefficient, coefficient);
  }
  float getCubicCoeff() const noexcept override { return params_.cubicCoefficient; }
  void setExcludeOutside(bool exclude) noexcept override { set(&Params::excludeOutside, exclude); }
  bool getExcludeOutside() const noexcept override { return params_.excludeOutside; }
};

struct GridSampleParams {
  static constexpr auto kType = nvinfer1::LayerType::kGRID_SAMPLE;
  static constexpr int32_t kMaxInputs = 2;
  nvinfer1::InterpolationMode mode = nvinfer1::InterpolationMode::kLINEAR;
  nvinfer1::SampleMode outside = nvinfer1::SampleMode::kFILL;
  bool alignCorners = false;
  std::vector<Value*> emit(Emission& at) const;
  void read(const Node& node);
};

class GridSampleLayer : public LayerOf<nvinfer1::IGridSampleLayer, GridSampleParams> {
 public:
  using LayerOf::LayerOf;
  void setInterpolationMode(nvinfer1::InterpolationMode mode) noexcept override {
    set(&Params::mode, mode);
  }
  nvinfer1::InterpolationMode getInterpolationMode() const noexcept override {
    return params_.mode;
  }
  void setAlignCorners(bool align) noexcept override { set(&Params::alignCorners, align); }
  bool getAlignCorners() const noexcept override { return params_.alignCorners; }
  bool setSampleMode(nvinfer1::SampleMode mode) noexcept override {
    return set(&Params::outside, mode);
  }
  nvinfer1::SampleMode getSampleMode() const noexcept override { return params_.outside; }
};

}  // namespace camshaft::api
