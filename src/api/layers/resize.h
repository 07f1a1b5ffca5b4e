// Resize.
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

}  // namespace camshaft::api
