#pragma once

// Tables of tensors and layers. See NvInferImpl.h.

#include "NvInferImpl.h"

namespace nvinfer1::apiv {

class CAMSHAFT_API VTensor : public VRoot {
 public:
  virtual void setName(const char* name) noexcept = 0;
  virtual const char* getName() const noexcept = 0;
  virtual void setDimensions(const Dims& dimensions) noexcept = 0;
  virtual Dims getDimensions() const noexcept = 0;
  virtual void setType(DataType type) noexcept = 0;
  virtual DataType getType() const noexcept = 0;
  virtual bool setDynamicRange(float min, float max) noexcept = 0;
  virtual bool isNetworkInput() const noexcept = 0;
  virtual bool isNetworkOutput() const noexcept = 0;
  virtual void setBroadcastAcrossBatch(bool broadcastAcrossBatch) noexcept = 0;
  virtual bool getBroadcastAcrossBatch() const noexcept = 0;
  virtual TensorLocation getLocation() const noexcept = 0;
  virtual void setLocation(TensorLocation location) noexcept = 0;
  virtual bool dynamicRangeIsSet() const noexcept = 0;
  virtual void resetDynamicRange() noexcept = 0;
  virtual float getDynamicRangeMin() const noexcept = 0;
  virtual float getDynamicRangeMax() const noexcept = 0;
  virtual void setAllowedFormats(TensorFormats formats) noexcept = 0;
  virtual TensorFormats getAllowedFormats() const noexcept = 0;
  virtual bool isShapeTensor() const noexcept = 0;
  virtual bool isExecutionTensor() const noexcept = 0;
  virtual void setDimensionName(int32_t index, const char* name) noexcept = 0;
  virtual const char* getDimensionName(int32_t index) const noexcept = 0;
};

class CAMSHAFT_API VLayer : public VRoot {
 public:
  virtual LayerType getType() const noexcept = 0;
  virtual void setName(const char* name) noexcept = 0;
  virtual const char* getName() const noexcept = 0;
  virtual int32_t getNbInputs() const noexcept = 0;
  virtual ITensor* getInput(int32_t index) const noexcept = 0;
  virtual int32_t getNbOutputs() const noexcept = 0;
  virtual ITensor* getOutput(int32_t index) const noexcept = 0;
  virtual void setInput(int32_t index, ITensor& tensor) noexcept = 0;
  virtual void setPrecision(DataType dataType) noexcept = 0;
  virtual DataType getPrecision() const noexcept = 0;
  virtual bool precisionIsSet() const noexcept = 0;
  virtual void resetPrecision() noexcept = 0;
  virtual void setOutputType(int32_t index, DataType dataType) noexcept = 0;
  virtual DataType getOutputType(int32_t index) const noexcept = 0;
  virtual bool outputTypeIsSet(int32_t index) const noexcept = 0;
  virtual void resetOutputType(int32_t index) noexcept = 0;
  virtual void setMetadata(const char* docString) noexcept = 0;
  virtual const char* getMetadata() const noexcept = 0;
  virtual bool setNbRanks(int32_t nbRanks) noexcept = 0;
  virtual int32_t getNbRanks() const noexcept = 0;
};

class CAMSHAFT_API VConvolutionLayer : public VRoot {
 public:
  virtual void setNbOutputMaps(int64_t nbOutputMaps) noexcept = 0;
  virtual int64_t getNbOutputMaps() const noexcept = 0;
  virtual void setNbGroups(int64_t nbGroups) noexcept = 0;
  virtual int64_t getNbGroups() const noexcept = 0;
  virtual void setKernelWeights(Weights weights) noexcept = 0;
  virtual Weights getKernelWeights() const noexcept = 0;
  virtual void setBiasWeights(Weights weights) noexcept = 0;
  virtual Weights getBiasWeights() const noexcept = 0;
  virtual void setPrePadding(const Dims& padding) noexcept = 0;
  virtual Dims getPrePadding() const noexcept = 0;
  virtual void setPostPadding(const Dims& padding) noexcept = 0;
  virtual Dims getPostPadding() const noexcept = 0;
  virtual void setPaddingMode(PaddingMode paddingMode) noexcept = 0;
  virtual PaddingMode getPaddingMode() const noexcept = 0;
  virtual void setKernelSizeNd(const Dims& kernelSize) noexcept = 0;
  virtual Dims getKernelSizeNd() const noexcept = 0;
  virtual void setStrideNd(const Dims& stride) noexcept = 0;
  virtual Dims getStrideNd() const noexcept = 0;
  virtual void setPaddingNd(const Dims& padding) noexcept = 0;
  virtual Dims getPaddingNd() const noexcept = 0;
  virtual void setDilationNd(const Dims& dilation) noexcept = 0;
  virtual Dims getDilationNd() const noexcept = 0;
};

class CAMSHAFT_API VActivationLayer : public VRoot {
 public:
  virtual void setActivationType(ActivationType type) noexcept = 0;
  virtual ActivationType getActivationType() const noexcept = 0;
  virtual void setAlpha(float alpha) noexcept = 0;
  virtual void setBeta(float beta) noexcept = 0;
  virtual float getAlpha() const noexcept = 0;
  virtual float getBeta() const noexcept = 0;
};

class CAMSHAFT_API VPoolingLayer : public VRoot {
 public:
  virtual void setPoolingType(PoolingType type) noexcept = 0;
  virtual PoolingType getPoolingType() const noexcept = 0;
  virtual void setBlendFactor(float blendFactor) noexcept = 0;
  virtual float getBlendFactor() const noexcept = 0;
  virtual void setAverageCountExcludesPadding(bool exclusive) noexcept = 0;
  virtual bool getAverageCountExcludesPadding() const noexcept = 0;
  virtual void setPrePadding(const Dims& padding) noexcept = 0;
  virtual Dims getPrePadding() const noexcept = 0;
  virtual void setPostPadding(const Dims& padding) noexcept = 0;
  virtual Dims getPostPadding() const noexcept = 0;
  virtual void setPaddingMode(PaddingMode paddingMode) noexcept = 0;
  virtual PaddingMode getPaddingMode() const noexcept = 0;
  virtual void setWindowSizeNd(const Dims& windowSize) noexcept = 0;
  virtual Dims getWindowSizeNd() const noexcept = 0;
  virtual void setStrideNd(const Dims& stride) noexcept = 0;
  virtual Dims getStrideNd() const noexcept = 0;
  virtual void setPaddingNd(const Dims& padding) noexcept = 0;
  virtual Dims getPaddingNd() const noexcept = 0;
};

class CAMSHAFT_API VLRNLayer : public VRoot {
 public:
  virtual void setWindowSize(int64_t windowSize) noexcept = 0;
  virtual int64_t getWindowSize() const noexcept = 0;
  virtual void setAlpha(float alpha) noexcept = 0;
  virtual float getAlpha() const noexcept = 0;
  virtual void setBeta(float beta) noexcept = 0;
  virtual float getBeta() const noexcept = 0;
  virtual void setK(float k) noexcept = 0;
  virtual float getK() const noexcept = 0;
};

class CAMSHAFT_API VScaleLayer : public VRoot {
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

class CAMSHAFT_API VSoftMaxLayer : public VRoot {
 public:
  virtual void setAxes(uint32_t axes) noexcept = 0;
  virtual uint32_t getAxes() const noexcept = 0;
};

class CAMSHAFT_API VConcatenationLayer : public VRoot {
 public:
  virtual void setAxis(int32_t axis) noexcept = 0;
  virtual int32_t getAxis() const noexcept = 0;
};

class CAMSHAFT_API VDeconvolutionLayer : public VRoot {
 public:
  virtual void setNbOutputMaps(int64_t nbOutputMaps) noexcept = 0;
  virtual int64_t getNbOutputMaps() const noexcept = 0;
  virtual void setNbGroups(int64_t nbGroups) noexcept = 0;
  virtual int64_t getNbGroups() const noexcept = 0;
  virtual void setKernelWeights(Weights weights) noexcept = 0;
  virtual Weights getKernelWeights() const noexcept = 0;
  virtual void setBiasWeights(Weights weights) noexcept = 0;
  virtual Weights getBiasWeights() const noexcept = 0;
  virtual void setPrePadding(const Dims& padding) noexcept = 0;
  virtual Dims getPrePadding() const noexcept = 0;
  virtual void setPostPadding(const Dims& padding) noexcept = 0;
  virtual Dims getPostPadding() const noexcept = 0;
  virtual void setPaddingMode(PaddingMode paddingMode) noexcept = 0;
  virtual PaddingMode getPaddingMode() const noexcept = 0;
  virtual void setKernelSizeNd(const Dims& kernelSize) noexcept = 0;
  virtual Dims getKernelSizeNd() const noexcept = 0;
  virtual void setStrideNd(const Dims& stride) noexcept = 0;
  virtual Dims getStrideNd() const noexcept = 0;
  virtual void setPaddingNd(const Dims& padding) noexcept = 0;
  virtual Dims getPaddingNd() const noexcept = 0;
  virtual void setDilationNd(const Dims& dilation) noexcept = 0;
  virtual Dims getDilationNd() const noexcept = 0;
};

class CAMSHAFT_API VElementWiseLayer : public VRoot {
 public:
  virtual void setOperation(ElementWiseOperation op) noexcept = 0;
  virtual ElementWiseOperation getOperation() const noexcept = 0;
};

class CAMSHAFT_API VGatherLayer : public VRoot {
 public:
  virtual void setGatherAxis(int32_t axis) noexcept = 0;
  virtual int32_t getGatherAxis() const noexcept = 0;
  virtual void setNbElementWiseDims(int32_t k) noexcept = 0;
  virtual int32_t getNbElementWiseDims() const noexcept = 0;
  virtual void setMode(GatherMode mode) noexcept = 0;
  virtual GatherMode getMode() const noexcept = 0;
};

class CAMSHAFT_API VPluginLayer : public VRoot {
 public:
  virtual IPlugin& getPlugin() noexcept = 0;
};

class CAMSHAFT_API VPluginV2Layer : public VRoot {
 public:
  virtual IPluginV2& getPlugin() noexcept = 0;
};

class CAMSHAFT_API VPluginV3Layer : public VRoot {
 public:
  virtual IPluginV3& getPlugin() noexcept = 0;
};

class CAMSHAFT_API VUnaryLayer : public VRoot {
 public:
  virtual void setOperation(UnaryOperation op) noexcept = 0;
  virtual UnaryOperation getOperation() const noexcept = 0;
};

class CAMSHAFT_API VReduceLayer : public VRoot {
 public:
  virtual void setOperation(ReduceOperation op) noexcept = 0;
  virtual ReduceOperation getOperation() const noexcept = 0;
  virtual void setReduceAxes(uint32_t reduceAxes) noexcept = 0;
  virtual uint32_t getReduceAxes() const noexcept = 0;
  virtual void setKeepDimensions(bool keepDimensions) noexcept = 0;
  virtual bool getKeepDimensions() const noexcept = 0;
};

class CAMSHAFT_API VPaddingLayer : public VRoot {
 public:
  virtual void setPrePaddingNd(const Dims& padding) noexcept = 0;
  virtual Dims getPrePaddingNd() const noexcept = 0;
  virtual void setPostPaddingNd(const Dims& padding) noexcept = 0;
  virtual Dims getPostPaddingNd() const noexcept = 0;
};

class CAMSHAFT_API VShuffleLayer : public VRoot {
 public:
  virtual void setFirstTranspose(const Permutation& permutation) noexcept = 0;
  virtual const Permutation& getFirstTranspose() const noexcept = 0;
  virtual void setReshapeDimensions(const Dims& dimensions) noexcept = 0;
  virtual Dims getReshapeDimensions() const noexcept = 0;
  virtual void setSecondTranspose(const Permutation& permutation) noexcept = 0;
  virtual const Permutation& getSecondTranspose() const noexcept = 0;
  virtual void setZeroIsPlaceholder(bool zeroIsPlaceholder) noexcept = 0;
  virtual bool getZeroIsPlaceholder() const noexcept = 0;
};

class CAMSHAFT_API VSliceLayer : public VRoot {
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

class CAMSHAFT_API VShapeLayer : public VRoot {};

class CAMSHAFT_API VTopKLayer : public VRoot {
 public:
  virtual void setOperation(TopKOperation op) noexcept = 0;
  virtual TopKOperation getOperation() const noexcept = 0;
  virtual void setK(int32_t k) noexcept = 0;
  virtual int32_t getK() const noexcept = 0;
  virtual void setReduceAxes(uint32_t reduceAxes) noexcept = 0;
  virtual uint32_t getReduceAxes() const noexcept = 0;
  virtual bool setIndicesType(DataType type) noexcept = 0;
  virtual DataType getIndicesType() const noexcept = 0;
};

class CAMSHAFT_API VMatrixMultiplyLayer : public VRoot {
 public:
  virtual void setOperation(int32_t index, MatrixOperation op) noexcept = 0;
  virtual MatrixOperation getOperation(int32_t index) const noexcept = 0;
};

class CAMSHAFT_API VNonZeroLayer : public VRoot {
 public:
  virtual bool setIndicesType(DataType type) noexcept = 0;
  virtual DataType getIndicesType() const noexcept = 0;
};

class CAMSHAFT_API VRaggedSoftMaxLayer : public VRoot {};

class CAMSHAFT_API VIdentityLayer : public VRoot {};

class CAMSHAFT_API VCastLayer : public VRoot {
 public:
  virtual void setToType(DataType toType) noexcept = 0;
  virtual DataType getToType() const noexcept = 0;
};

class CAMSHAFT_API VConstantLayer : public VRoot {
 public:
  virtual void setWeights(Weights weights) noexcept = 0;
  virtual Weights getWeights() const noexcept = 0;
  virtual void setDimensions(const Dims& dimensions) noexcept = 0;
  virtual Dims getDimensions() const noexcept = 0;
};

class CAMSHAFT_API VParametricReLULayer : public VRoot {};

class CAMSHAFT_API VResizeLayer : public VRoot {
 public:
  virtual void setOutputDimensions(const Dims& dimensions) noexcept = 0;
  virtual Dims getOutputDimensions() const noexcept = 0;
  virtual void setScales(const float* scales, int32_t nbScales) noexcept = 0;
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
  virtual void setCubicCoeff(float value) noexcept = 0;
  virtual float getCubicCoeff() const noexcept = 0;
  virtual void setExcludeOutside(bool value) noexcept = 0;
  virtual bool getExcludeOutside() const noexcept = 0;
};

class CAMSHAFT_API VSelectLayer : public VRoot {};

class CAMSHAFT_API VAssertionLayer : public VRoot {
 public:
  virtual void setMessage(const char* message) noexcept = 0;
  virtual const char* getMessage() const noexcept = 0;
};

class CAMSHAFT_API VFillLayer : public VRoot {
 public:
  virtual void setDimensions(const Dims& dimensions) noexcept = 0;
  virtual Dims getDimensions() const noexcept = 0;
  virtual void setOperation(FillOperation op) noexcept = 0;
  virtual FillOperation getOperation() const noexcept = 0;
  virtual void setAlpha(double alpha) noexcept = 0;
  virtual double getAlpha() const noexcept = 0;
  virtual void setBeta(double beta) noexcept = 0;
  virtual double getBeta() const noexcept = 0;
  virtual void setAlphaInt64(int64_t alpha) noexcept = 0;
  virtual int64_t getAlphaInt64() const noexcept = 0;
  virtual void setBetaInt64(int64_t beta) noexcept = 0;
  virtual int64_t getBetaInt64() const noexcept = 0;
  virtual bool isAlphaBetaInt64() const noexcept = 0;
  virtual DataType getToType() const noexcept = 0;
  virtual void setToType(DataType toType) noexcept = 0;
};

class CAMSHAFT_API VQuantizeLayer : public VRoot {
 public:
  virtual int32_t getAxis() const noexcept = 0;
  virtual void setAxis(int32_t axis) noexcept = 0;
  virtual DataType getToType() const noexcept = 0;
  virtual void setToType(DataType toType) noexcept = 0;
  virtual Dims getBlockShape() const noexcept = 0;
  virtual bool setBlockShape(const Dims& blockShape) noexcept = 0;
};

class CAMSHAFT_API VDequantizeLayer : public VRoot {
 public:
  virtual int32_t getAxis() const noexcept = 0;
  virtual void setAxis(int32_t axis) noexcept = 0;
  virtual DataType getToType() const noexcept = 0;
  virtual void setToType(DataType toType) noexcept = 0;
  virtual Dims getBlockShape() const noexcept = 0;
  virtual bool setBlockShape(const Dims& blockShape) noexcept = 0;
};

class CAMSHAFT_API VDynamicQuantizeLayer : public VRoot {
 public:
  virtual int32_t getAxis() const noexcept = 0;
  virtual void setAxis(int32_t axis) noexcept = 0;
  virtual int32_t getBlockSize() const noexcept = 0;
  virtual void setBlockSize(int32_t axis) noexcept = 0;
  virtual DataType getScaleType() const noexcept = 0;
  virtual void setScaleType(DataType axis) noexcept = 0;
  virtual DataType getToType() const noexcept = 0;
  virtual void setToType(DataType toType) noexcept = 0;
  virtual Dims getBlockShape() const noexcept = 0;
  virtual void setBlockShape(const Dims& blockShape) noexcept = 0;
};

class CAMSHAFT_API VScatterLayer : public VRoot {
 public:
  virtual void setMode(ScatterMode mode) noexcept = 0;
  virtual ScatterMode getMode() const noexcept = 0;
  virtual void setAxis(int32_t axis) noexcept = 0;
  virtual int32_t getAxis() const noexcept = 0;
};

class CAMSHAFT_API VEinsumLayer : public VRoot {
 public:
  virtual bool setEquation(const char* equation) noexcept = 0;
  virtual const char* getEquation() const noexcept = 0;
};

class CAMSHAFT_API VOneHotLayer : public VRoot {
 public:
  virtual int32_t getAxis() const noexcept = 0;
  virtual void setAxis(int32_t axis) noexcept = 0;
};

class CAMSHAFT_API VGridSampleLayer : public VRoot {
 public:
  virtual void setInterpolationMode(InterpolationMode mode) noexcept = 0;
  virtual InterpolationMode getInterpolationMode() const noexcept = 0;
  virtual void setAlignCorners(bool alignCorners) noexcept = 0;
  virtual bool getAlignCorners() const noexcept = 0;
  virtual bool setSampleMode(SampleMode mode) noexcept = 0;
  virtual SampleMode getSampleMode() const noexcept = 0;
};

class CAMSHAFT_API VNMSLayer : public VRoot {
 public:
  virtual void setBoundingBoxFormat(BoundingBoxFormat fmt) noexcept = 0;
  virtual BoundingBoxFormat getBoundingBoxFormat() const noexcept = 0;
  virtual void setTopKBoxLimit(int32_t limit) noexcept = 0;
  virtual int32_t getTopKBoxLimit() const noexcept = 0;
  virtual bool setIndicesType(DataType type) noexcept = 0;
  virtual DataType getIndicesType() const noexcept = 0;
};

class CAMSHAFT_API VReverseSequenceLayer : public VRoot {
 public:
  virtual void setBatchAxis(int32_t batchAxis) noexcept = 0;
  virtual int32_t getBatchAxis() const noexcept = 0;
  virtual void setSequenceAxis(int32_t sequenceAxis) noexcept = 0;
  virtual int32_t getSequenceAxis() const noexcept = 0;
};

class CAMSHAFT_API VNormalizationLayer : public VRoot {
 public:
  virtual void setEpsilon(float eps) noexcept = 0;
  virtual float getEpsilon() const noexcept = 0;
  virtual void setAxes(uint32_t axesMask) noexcept = 0;
  virtual uint32_t getAxes() const noexcept = 0;
  virtual void setNbGroups(int64_t nbGroups) noexcept = 0;
  virtual int64_t getNbGroups() const noexcept = 0;
  virtual void setComputePrecision(DataType type) noexcept = 0;
  virtual DataType getComputePrecision() const noexcept = 0;
  virtual bool isV2() const noexcept = 0;
};

class CAMSHAFT_API VSqueezeLayer : public VRoot {};

class CAMSHAFT_API VUnsqueezeLayer : public VRoot {};

class CAMSHAFT_API VCumulativeLayer : public VRoot {
 public:
  virtual bool setOperation(CumulativeOperation op) noexcept = 0;
  virtual CumulativeOperation getOperation() const noexcept = 0;
  virtual void setExclusive(bool exclusive) noexcept = 0;
  virtual bool getExclusive() const noexcept = 0;
  virtual void setReverse(bool reverse) noexcept = 0;
  virtual bool getReverse() const noexcept = 0;
};

}  // namespace nvinfer1::apiv
