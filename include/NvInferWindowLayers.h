#pragma once

// Layers that move a window over the spatial dimensions.

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

// Kernel weights are [outputs, channels / groups, spatial...]. Kernel and bias are weights, or
// inputs 1 and 2 when their weights are empty.
class CAMSHAFT_API IConvolutionLayer : public ILayer {
 public:
  void setNbOutputMaps(int64_t nbOutputMaps) noexcept { mImpl->setNbOutputMaps(nbOutputMaps); }
  int64_t getNbOutputMaps() const noexcept { return mImpl->getNbOutputMaps(); }
  void setNbGroups(int64_t nbGroups) noexcept { mImpl->setNbGroups(nbGroups); }
  int64_t getNbGroups() const noexcept { return mImpl->getNbGroups(); }
  void setKernelSizeNd(const Dims& kernelSize) noexcept { mImpl->setKernelSizeNd(kernelSize); }
  Dims getKernelSizeNd() const noexcept { return mImpl->getKernelSizeNd(); }
  void setDilationNd(const Dims& dilation) noexcept { mImpl->setDilationNd(dilation); }
  Dims getDilationNd() const noexcept { return mImpl->getDilationNd(); }
  void setKernelWeights(Weights weights) noexcept { mImpl->setKernelWeights(weights); }
  Weights getKernelWeights() const noexcept { return mImpl->getKernelWeights(); }
  void setBiasWeights(Weights weights) noexcept { mImpl->setBiasWeights(weights); }
  Weights getBiasWeights() const noexcept { return mImpl->getBiasWeights(); }
  void setStrideNd(const Dims& stride) noexcept { mImpl->setStrideNd(stride); }
  Dims getStrideNd() const noexcept { return mImpl->getStrideNd(); }
  void setPrePadding(const Dims& padding) noexcept { mImpl->setPrePadding(padding); }
  Dims getPrePadding() const noexcept { return mImpl->getPrePadding(); }
  void setPostPadding(const Dims& padding) noexcept { mImpl->setPostPadding(padding); }
  Dims getPostPadding() const noexcept { return mImpl->getPostPadding(); }
  // Both sides at once; the getter reports an error when they differ.
  void setPaddingNd(const Dims& padding) noexcept { mImpl->setPaddingNd(padding); }
  Dims getPaddingNd() const noexcept { return mImpl->getPaddingNd(); }
  void setPaddingMode(PaddingMode paddingMode) noexcept { mImpl->setPaddingMode(paddingMode); }
  PaddingMode getPaddingMode() const noexcept { return mImpl->getPaddingMode(); }

 protected:
  ~IConvolutionLayer() noexcept override = default;

  apiv::VConvolutionLayer* mImpl{};
};

// Kernel weights are [channels, outputs / groups, spatial...]. Otherwise like a convolution.
class CAMSHAFT_API IDeconvolutionLayer : public ILayer {
 public:
  void setNbOutputMaps(int64_t nbOutputMaps) noexcept { mImpl->setNbOutputMaps(nbOutputMaps); }
  int64_t getNbOutputMaps() const noexcept { return mImpl->getNbOutputMaps(); }
  void setNbGroups(int64_t nbGroups) noexcept { mImpl->setNbGroups(nbGroups); }
  int64_t getNbGroups() const noexcept { return mImpl->getNbGroups(); }
  void setKernelSizeNd(const Dims& kernelSize) noexcept { mImpl->setKernelSizeNd(kernelSize); }
  Dims getKernelSizeNd() const noexcept { return mImpl->getKernelSizeNd(); }
  void setDilationNd(const Dims& dilation) noexcept { mImpl->setDilationNd(dilation); }
  Dims getDilationNd() const noexcept { return mImpl->getDilationNd(); }
  void setKernelWeights(Weights weights) noexcept { mImpl->setKernelWeights(weights); }
  Weights getKernelWeights() const noexcept { return mImpl->getKernelWeights(); }
  void setBiasWeights(Weights weights) noexcept { mImpl->setBiasWeights(weights); }
  Weights getBiasWeights() const noexcept { return mImpl->getBiasWeights(); }
  void setStrideNd(const Dims& stride) noexcept { mImpl->setStrideNd(stride); }
  Dims getStrideNd() const noexcept { return mImpl->getStrideNd(); }
  void setPrePadding(const Dims& padding) noexcept { mImpl->setPrePadding(padding); }
  Dims getPrePadding() const noexcept { return mImpl->getPrePadding(); }
  void setPostPadding(const Dims& padding) noexcept { mImpl->setPostPadding(padding); }
  Dims getPostPadding() const noexcept { return mImpl->getPostPadding(); }
  // Both sides at once; the getter reports an error when they differ.
  void setPaddingNd(const Dims& padding) noexcept { mImpl->setPaddingNd(padding); }
  Dims getPaddingNd() const noexcept { return mImpl->getPaddingNd(); }
  void setPaddingMode(PaddingMode paddingMode) noexcept { mImpl->setPaddingMode(paddingMode); }
  PaddingMode getPaddingMode() const noexcept { return mImpl->getPaddingMode(); }

 protected:
  ~IDeconvolutionLayer() noexcept override = default;

  apiv::VDeconvolutionLayer* mImpl{};
};

enum class PoolingType : int32_t {
  kMAX = 0,
  kAVERAGE = 1,
  kMAX_AVERAGE_BLEND = 2,
};
template <>
constexpr int32_t EnumMax<PoolingType>() noexcept {
  return 3;
}

class CAMSHAFT_API IPoolingLayer : public ILayer {
 public:
  void setStrideNd(const Dims& stride) noexcept { mImpl->setStrideNd(stride); }
  Dims getStrideNd() const noexcept { return mImpl->getStrideNd(); }
  void setPrePadding(const Dims& padding) noexcept { mImpl->setPrePadding(padding); }
  Dims getPrePadding() const noexcept { return mImpl->getPrePadding(); }
  void setPostPadding(const Dims& padding) noexcept { mImpl->setPostPadding(padding); }
  Dims getPostPadding() const noexcept { return mImpl->getPostPadding(); }
  // Both sides at once; the getter reports an error when they differ.
  void setPaddingNd(const Dims& padding) noexcept { mImpl->setPaddingNd(padding); }
  Dims getPaddingNd() const noexcept { return mImpl->getPaddingNd(); }
  void setPaddingMode(PaddingMode paddingMode) noexcept { mImpl->setPaddingMode(paddingMode); }
  PaddingMode getPaddingMode() const noexcept { return mImpl->getPaddingMode(); }
  void setPoolingType(PoolingType type) noexcept { mImpl->setPoolingType(type); }
  PoolingType getPoolingType() const noexcept { return mImpl->getPoolingType(); }
  void setWindowSizeNd(const Dims& windowSize) noexcept { mImpl->setWindowSizeNd(windowSize); }
  Dims getWindowSizeNd() const noexcept { return mImpl->getWindowSizeNd(); }
  // kMAX_AVERAGE_BLEND: (1 - factor) * max + factor * average.
  void setBlendFactor(float blendFactor) noexcept { mImpl->setBlendFactor(blendFactor); }
  float getBlendFactor() const noexcept { return mImpl->getBlendFactor(); }
  void setAverageCountExcludesPadding(bool exclusive) noexcept {
    mImpl->setAverageCountExcludesPadding(exclusive);
  }
  bool getAverageCountExcludesPadding() const noexcept {
    return mImpl->getAverageCountExcludesPadding();
  }

 protected:
  ~IPoolingLayer() noexcept override = default;

  apiv::VPoolingLayer* mImpl{};
};

// x / (k + alpha / window * sum of squares over a window of channels) ^ beta.
class CAMSHAFT_API ILRNLayer : public ILayer {
 public:
  void setWindowSize(int64_t windowSize) noexcept { mImpl->setWindowSize(windowSize); }
  int64_t getWindowSize() const noexcept { return mImpl->getWindowSize(); }
  void setAlpha(float alpha) noexcept { mImpl->setAlpha(alpha); }
  float getAlpha() const noexcept { return mImpl->getAlpha(); }
  void setBeta(float beta) noexcept { mImpl->setBeta(beta); }
  float getBeta() const noexcept { return mImpl->getBeta(); }
  void setK(float k) noexcept { mImpl->setK(k); }
  float getK() const noexcept { return mImpl->getK(); }

 protected:
  ~ILRNLayer() noexcept override = default;

  apiv::VLRNLayer* mImpl{};
};

// Zeros around the last two dimensions; negative padding cuts off.
class CAMSHAFT_API IPaddingLayer : public ILayer {
 public:
  void setPrePaddingNd(const Dims& padding) noexcept { mImpl->setPrePaddingNd(padding); }
  Dims getPrePaddingNd() const noexcept { return mImpl->getPrePaddingNd(); }
  void setPostPaddingNd(const Dims& padding) noexcept { mImpl->setPostPaddingNd(padding); }
  Dims getPostPaddingNd() const noexcept { return mImpl->getPostPaddingNd(); }

 protected:
  ~IPaddingLayer() noexcept override = default;

  apiv::VPaddingLayer* mImpl{};
};

}  // namespace nvinfer1
