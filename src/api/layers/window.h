// Convolution, deconvolution and pooling: windows over the spatial dimensions.
#pragma once

#include "api/layers/layer.h"
#include "ops/window.h"

namespace camshaft::api {

// What the three share, one entry per spatial dimension.
struct WindowParams {
  std::vector<int64_t> kernel, strides, dilations, padsBegin, padsEnd;
  nvinfer1::PaddingMode padding = nvinfer1::PaddingMode::kEXPLICIT_ROUND_DOWN;

  void start(const nvinfer1::Dims& kernelSize);  // strides and dilations 1, no padding
  // Throws unless the input has batch, channels and the kernel's spatial dimensions.
  void check(const Emission& at) const;
  // The input's: a window may be larger than it until the padding is set.
  Shape pendingSizes(const Emission& at) const;
  // Explicit padding of a window moved over the input; ROUND_UP becomes end padding.
  std::pair<std::vector<int64_t>, std::vector<int64_t>> pads(const Emission& at) const;
};

// Convolution and deconvolution; the kernel is [outputs, channels/groups, spatial...], or for a
// deconvolution [channels, outputs/groups, spatial...].
struct KernelParams : WindowParams {
  static constexpr int32_t kMaxInputs = 3;
  int64_t maps = 0, groups = 1;
  WeightsCopy kernelWeights, biasWeights;

  // Throws when no number of groups makes the weights fit the input.
  void start(const nvinfer1::ITensor& input, int64_t outputMaps, const nvinfer1::Dims& kernelSize,
             const nvinfer1::Weights& kernelGiven, const nvinfer1::Weights& bias);
  template <class A>
  void readFrom(const Node& node);
  Shape pendingSizes(const Emission& at) const;
  // Input, kernel and bias; a kernel or bias still missing or of another size is zeros for now, and
  // the emission's problem says so.
  std::vector<Value*> operands(Emission& at, bool transposed) const;
};

struct ConvolutionParams : KernelParams {
  static constexpr auto kType = nvinfer1::LayerType::kCONVOLUTION;
  std::vector<Value*> emit(Emission& at) const;
  void read(const Node& node);
};

struct DeconvolutionParams : KernelParams {
  static constexpr auto kType = nvinfer1::LayerType::kDECONVOLUTION;
  std::vector<int64_t> outputPadding;  // of a parsed model
  std::vector<Value*> emit(Emission& at) const;
  void read(const Node& node);
};

struct PoolingParams : WindowParams {
  static constexpr auto kType = nvinfer1::LayerType::kPOOLING;
  static constexpr int32_t kMaxInputs = 1;
  nvinfer1::PoolingType pooling = nvinfer1::PoolingType::kMAX;
  float blend = 0;
  bool excludesPadding = true;
  std::vector<Value*> emit(Emission& at) const;
  void read(const Node& node);
};

// Dims given to a setter: one per spatial dimension and none below `least`.
std::vector<int64_t> windowSizes(const std::string& layer, std::string_view what,
                                 const nvinfer1::Dims& dims, size_t rank, int64_t least);

template <class I, class P>
class WindowLayer : public LayerOf<I, P> {
 public:
  using LayerOf<I, P>::LayerOf;
  using Dims = nvinfer1::Dims;

  void setStrideNd(const Dims& dims) noexcept override { setSizes(&P::strides, "stride", dims, 1); }
  Dims getStrideNd() const noexcept override { return view(this->params_.strides); }
  void setPrePadding(const Dims& dims) noexcept override {
    setSizes(&P::padsBegin, "padding", dims, 0);
  }
  Dims getPrePadding() const noexcept override { return view(this->params_.padsBegin); }
  void setPostPadding(const Dims& dims) noexcept override {
    setSizes(&P::padsEnd, "padding", dims, 0);
  }
  Dims getPostPadding() const noexcept override { return view(this->params_.padsEnd); }
  void setPaddingNd(const Dims& dims) noexcept override {
    this->change([&](P& params) {
      params.padsBegin = windowSizes(this->name, "padding", dims, params.kernel.size(), 0);
      params.padsEnd = params.padsBegin;
    });
  }
  Dims getPaddingNd() const noexcept override;
  void setPaddingMode(nvinfer1::PaddingMode mode) noexcept override {
    this->set(&P::padding, mode);
  }
  nvinfer1::PaddingMode getPaddingMode() const noexcept override { return this->params_.padding; }

 protected:
  static Dims view(const std::vector<int64_t>& sizes);
  template <class Field>
  void setSizes(Field field, std::string_view what, const Dims& dims, int64_t least) noexcept {
    this->change([&](P& params) {
      params.*field = windowSizes(this->name, what, dims, params.kernel.size(), least);
    });
  }
};

template <class I, class P>
class KernelLayer : public WindowLayer<I, P> {
 public:
  using WindowLayer<I, P>::WindowLayer;
  using Dims = nvinfer1::Dims;
  using Weights = nvinfer1::Weights;

  void setNbOutputMaps(int64_t maps) noexcept override { this->set(&P::maps, maps); }
  int64_t getNbOutputMaps() const noexcept override { return this->params_.maps; }
  void setNbGroups(int64_t groups) noexcept override { this->set(&P::groups, groups); }
  int64_t getNbGroups() const noexcept override { return this->params_.groups; }
  void setKernelSizeNd(const Dims& dims) noexcept override {
    this->setSizes(&P::kernel, "kernel size", dims, 1);
  }
  Dims getKernelSizeNd() const noexcept override { return this->view(this->params_.kernel); }
  void setDilationNd(const Dims& dims) noexcept override {
    this->setSizes(&P::dilations, "dilation", dims, 1);
  }
  Dims getDilationNd() const noexcept override { return this->view(this->params_.dilations); }
  void setKernelWeights(Weights weights) noexcept override {
    this->change([&](P& params) { params.kernelWeights = WeightsCopy(weights); });
  }
  Weights getKernelWeights() const noexcept override { return this->params_.kernelWeights.view(); }
  void setBiasWeights(Weights weights) noexcept override {
    this->change([&](P& params) { params.biasWeights = WeightsCopy(weights); });
  }
  Weights getBiasWeights() const noexcept override { return this->params_.biasWeights.view(); }
};

using ConvolutionLayer = KernelLayer<nvinfer1::IConvolutionLayer, ConvolutionParams>;
using DeconvolutionLayer = KernelLayer<nvinfer1::IDeconvolutionLayer, DeconvolutionParams>;

class PoolingLayer : public WindowLayer<nvinfer1::IPoolingLayer, PoolingParams> {
 public:
  using WindowLayer::WindowLayer;
  void setPoolingType(nvinfer1::PoolingType type) noexcept override {
    set(&PoolingParams::pooling, type);
  }
  nvinfer1::PoolingType getPoolingType() const noexcept override { return params_.pooling; }
  void setWindowSizeNd(const nvinfer1::Dims& dims) noexcept override {
    setSizes(&PoolingParams::kernel, "window size", dims, 1);
  }
  nvinfer1::Dims getWindowSizeNd() const noexcept override { return view(params_.kernel); }
  void setBlendFactor(float factor) noexcept override { set(&PoolingParams::blend, factor); }
  float getBlendFactor() const noexcept override { return params_.blend; }
  void setAverageCountExcludesPadding(bool excludes) noexcept override {
    set(&PoolingParams::excludesPadding, excludes);
  }
  bool getAverageCountExcludesPadding() const noexcept override { return params_.excludesPadding; }
};

}  // namespace camshaft::api
