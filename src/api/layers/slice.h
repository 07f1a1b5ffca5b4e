// Slice: a window with steps, which may reach outside the data. Padding: one without steps.
#pragma once

#include <optional>

#include "api/layers/layer.h"

namespace camshaft::api {

// Inputs 1 to 5 (start, size, stride, fill value, axes) take precedence over the fields.
struct SliceParams {
  static constexpr auto kType = nvinfer1::LayerType::kSLICE;
  static constexpr int32_t kMaxInputs = 6;
  std::vector<Dim> start, size, stride;
  std::optional<std::vector<Dim>> axes;  // none: all
  nvinfer1::SampleMode mode = nvinfer1::SampleMode::kSTRICT_BOUNDS;
  std::vector<Value*> emit(Emission& at) const;
  Shape pendingSizes(const Emission& at) const;  // strides and the mode come after starts
  void read(const Node& node);
};

class SliceLayer : public LayerOf<nvinfer1::ISliceLayer, SliceParams> {
 public:
  using LayerOf::LayerOf;
  using Dims = nvinfer1::Dims;
  void setStart(const Dims& dims) noexcept override { setDims(&Params::start, dims, 1); }
  Dims getStart() const noexcept override { return view(1, params_.start); }
  void setSize(const Dims& dims) noexcept override { setDims(&Params::size, dims, 2); }
  Dims getSize() const noexcept override { return view(2, params_.size); }
  void setStride(const Dims& dims) noexcept override { setDims(&Params::stride, dims, 3); }
  Dims getStride() const noexcept override { return view(3, params_.stride); }
  void setMode(nvinfer1::SampleMode mode) noexcept override { set(&Params::mode, mode); }
  nvinfer1::SampleMode getMode() const noexcept override { return params_.mode; }
  void setAxes(const Dims& dims) noexcept override;
  Dims getAxes() const noexcept override;

 private:
  void setDims(std::vector<Dim> Params::* field, const Dims& dims, int32_t input) noexcept;
  Dims view(size_t input, const std::vector<Dim>& values) const noexcept;
};

// Zeros around the last two dimensions; negative padding crops.
struct PaddingParams {
  static constexpr auto kType = nvinfer1::LayerType::kPADDING;
  static constexpr int32_t kMaxInputs = 1;
  std::vector<int64_t> before, after;
  std::vector<Value*> emit(Emission& at) const;
  void read(const Node& node);
  static bool canRead(const Node& node);  // other Pads have no such layer
};

class PaddingLayer : public LayerOf<nvinfer1::IPaddingLayer, PaddingParams> {
 public:
  using LayerOf::LayerOf;
  using Dims = nvinfer1::Dims;
  void setPrePaddingNd(const Dims& padding) noexcept override;
  Dims getPrePaddingNd() const noexcept override;
  void setPostPaddingNd(const Dims& padding) noexcept override;
  Dims getPostPaddingNd() const noexcept override;
};

}  // namespace camshaft::api
