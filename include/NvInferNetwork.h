#pragma once

// Networks: a model as layers and tensors.

#include "NvInferControlFlow.h"
#include "NvInferPluginLayers.h"
#include "NvInferPointwiseLayers.h"
#include "NvInferQuantizeLayers.h"
#include "NvInferSampleLayers.h"
#include "NvInferTransformerLayers.h"
#include "NvInferWindowLayers.h"

namespace nvinfer1 {

// Bit numbers of NetworkDefinitionCreationFlags. Every network has an explicit batch dimension, so
// the first changes nothing. A strongly typed network is built with the types it was given: flags
// and layers that ask for others are refused. The Python ones are refused.
enum class NetworkDefinitionCreationFlag : int32_t {
  kEXPLICIT_BATCH = 0,
  kSTRONGLY_TYPED = 1,
  kPREFER_JIT_PYTHON_PLUGINS = 2,
  kPREFER_AOT_PYTHON_PLUGINS = 3,
};
template <>
constexpr int32_t EnumMax<NetworkDefinitionCreationFlag>() noexcept {
  return 4;
}

// A model as layers and tensors: a view of one graph, which the parser fills and a build reads
// without changing it. An add* method appends a layer, works out its outputs' types and dimensions,
// and returns it, or null when the arguments do not fit; the message names the layer and says why.
// See NvInferLayerBase.h for ownership and threads.
//
// An operator of a parsed model that no layer class describes is a layer of type
// kCAMSHAFT_OPERATOR.
class CAMSHAFT_API INetworkDefinition : public INoCopy {
 public:
  ~INetworkDefinition() noexcept override = default;

  void setName(const char* name) noexcept { mImpl->setName(name); }
  const char* getName() const noexcept { return mImpl->getName(); }
  NetworkDefinitionCreationFlags getFlags() const noexcept { return mImpl->getFlags(); }
  bool getFlag(NetworkDefinitionCreationFlag networkDefinitionCreationFlag) const noexcept {
    return mImpl->getFlag(networkDefinitionCreationFlag);
  }
  // Never.
  bool hasImplicitBatchDimension() const noexcept { return mImpl->hasImplicitBatchDimension(); }
  void setErrorRecorder(IErrorRecorder* recorder) noexcept { mImpl->setErrorRecorder(recorder); }
  IErrorRecorder* getErrorRecorder() const noexcept { return mImpl->getErrorRecorder(); }

  // Names are unique among inputs. A dimension of -1 is known at run time.
  ITensor* addInput(const char* name, DataType type, const Dims& dimensions) noexcept {
    return mImpl->addInput(name, type, dimensions);
  }
  void markOutput(ITensor& tensor) noexcept { mImpl->markOutput(tensor); }
  void unmarkOutput(ITensor& tensor) noexcept { mImpl->unmarkOutput(tensor); }
  // Removes a tensor that no layer reads, and its layer once the last of its tensors goes.
  void removeTensor(ITensor& tensor) noexcept { mImpl->removeTensor(tensor); }

  // Layers are listed in an order in which they could run; an index out of range gives null.
  int32_t getNbLayers() const noexcept { return mImpl->getNbLayers(); }
  ILayer* getLayer(int32_t index) const noexcept { return mImpl->getLayer(index); }
  int32_t getNbInputs() const noexcept { return mImpl->getNbInputs(); }
  ITensor* getInput(int32_t index) const noexcept { return mImpl->getInput(index); }
  int32_t getNbOutputs() const noexcept { return mImpl->getNbOutputs(); }
  ITensor* getOutput(int32_t index) const noexcept { return mImpl->getOutput(index); }

  IConvolutionLayer* addConvolutionNd(ITensor& input, int64_t nbOutputMaps, const Dims& kernelSize,
                                      Weights kernelWeights, Weights biasWeights) noexcept {
    return mImpl->addConvolutionNd(input, nbOutputMaps, kernelSize, kernelWeights, biasWeights);
  }
  IDeconvolutionLayer* addDeconvolutionNd(ITensor& input, int64_t nbOutputMaps, Dims kernelSize,
                                          Weights kernelWeights, Weights biasWeights) noexcept {
    return mImpl->addDeconvolutionNd(input, nbOutputMaps, kernelSize, kernelWeights, biasWeights);
  }
  IPoolingLayer* addPoolingNd(ITensor& input, PoolingType type, const Dims& windowSize) noexcept {
    return mImpl->addPoolingNd(input, type, windowSize);
  }

  IActivationLayer* addActivation(ITensor& input, ActivationType type) noexcept {
    return mImpl->addActivation(input, type);
  }
  IParametricReLULayer* addParametricReLU(ITensor& input, ITensor& slope) noexcept {
    return mImpl->addParametricReLU(input, slope);
  }
  IScaleLayer* addScale(ITensor& input, ScaleMode mode, Weights shift, Weights scale,
                        Weights power) noexcept {
    return mImpl->addScale(input, mode, shift, scale, power);
  }
  IScaleLayer* addScaleNd(ITensor& input, ScaleMode mode, Weights shift, Weights scale,
                          Weights power, int32_t channelAxis) noexcept {
    return mImpl->addScaleNd(input, mode, shift, scale, power, channelAxis);
  }
  IElementWiseLayer* addElementWise(ITensor& input1, ITensor& input2,
                                    ElementWiseOperation op) noexcept {
    return mImpl->addElementWise(input1, input2, op);
  }
  IUnaryLayer* addUnary(ITensor& input, UnaryOperation operation) noexcept {
    return mImpl->addUnary(input, operation);
  }
  ISelectLayer* addSelect(ITensor& condition, ITensor& thenInput, ITensor& elseInput) noexcept {
    return mImpl->addSelect(condition, thenInput, elseInput);
  }
  ICastLayer* addCast(ITensor& input, DataType toType) noexcept {
    return mImpl->addCast(input, toType);
  }

  ISoftMaxLayer* addSoftMax(ITensor& input) noexcept { return mImpl->addSoftMax(input); }
  INormalizationLayer* addNormalization(ITensor& input, ITensor& scale, ITensor& bias,
                                        uint32_t axesMask) noexcept {
    return mImpl->addNormalization(input, scale, bias, axesMask);
  }
  INormalizationLayer* addNormalizationV2(ITensor& input, ITensor& scale, ITensor& bias,
                                          uint32_t axesMask) noexcept {
    return mImpl->addNormalizationV2(input, scale, bias, axesMask);
  }
  IReduceLayer* addReduce(ITensor& input, ReduceOperation operation, uint32_t reduceAxes,
                          bool keepDimensions) noexcept {
    return mImpl->addReduce(input, operation, reduceAxes, keepDimensions);
  }
  // Without a type, indices are kINT32.
  ITopKLayer* addTopK(ITensor& input, TopKOperation op, int32_t k, uint32_t reduceAxes) noexcept {
    return mImpl->addTopK(input, op, k, reduceAxes);
  }
  ITopKLayer* addTopK(ITensor& input, TopKOperation op, int32_t k, uint32_t reduceAxes,
                      DataType indicesType) noexcept {
    return mImpl->addTopKV2(input, op, k, reduceAxes, indicesType);
  }
  ICumulativeLayer* addCumulative(ITensor& input, ITensor& axis, CumulativeOperation operation,
                                  bool exclusive, bool reverse) noexcept {
    return mImpl->addCumulative(input, axis, operation, exclusive, reverse);
  }
  IMatrixMultiplyLayer* addMatrixMultiply(ITensor& input0, MatrixOperation op0, ITensor& input1,
                                          MatrixOperation op1) noexcept {
    return mImpl->addMatrixMultiply(input0, op0, input1, op1);
  }
  IEinsumLayer* addEinsum(ITensor* const* inputs, int32_t nbInputs, const char* equation) noexcept {
    return mImpl->addEinsum(inputs, nbInputs, equation);
  }

  IConstantLayer* addConstant(const Dims& dimensions, Weights weights) noexcept {
    return mImpl->addConstant(dimensions, weights);
  }
  IIdentityLayer* addIdentity(ITensor& input) noexcept { return mImpl->addIdentity(input); }
  IShapeLayer* addShape(ITensor& input) noexcept { return mImpl->addShape(input); }
  IConcatenationLayer* addConcatenation(ITensor* const* inputs, int32_t nbInputs) noexcept {
    return mImpl->addConcatenation(inputs, nbInputs);
  }
  IShuffleLayer* addShuffle(ITensor& input) noexcept { return mImpl->addShuffle(input); }
  ISqueezeLayer* addSqueeze(ITensor& input, ITensor& axes) noexcept {
    return mImpl->addSqueeze(input, axes);
  }
  IUnsqueezeLayer* addUnsqueeze(ITensor& input, ITensor& axes) noexcept {
    return mImpl->addUnsqueeze(input, axes);
  }
  ISliceLayer* addSlice(ITensor& input, const Dims& start, const Dims& size,
                        const Dims& stride) noexcept {
    return mImpl->addSlice(input, start, size, stride);
  }
  IGatherLayer* addGather(ITensor& data, ITensor& indices, int32_t axis) noexcept {
    return mImpl->addGather(data, indices, axis);
  }
  IGatherLayer* addGatherV2(ITensor& data, ITensor& indices, GatherMode mode) noexcept {
    return mImpl->addGatherV2(data, indices, mode);
  }
  IOneHotLayer* addOneHot(ITensor& indices, ITensor& values, ITensor& depth,
                          int32_t axis) noexcept {
    return mImpl->addOneHot(indices, values, depth, axis);
  }
  IResizeLayer* addResize(ITensor& input) noexcept { return mImpl->addResize(input); }

  // Tensors that a run hands to the IDebugListener of its context, where that asks for them. They
  // are stored, whatever is fused around them; results are the same.
  bool markDebug(ITensor& tensor) noexcept { return mImpl->markDebug(tensor); }
  bool unmarkDebug(ITensor& tensor) noexcept { return mImpl->unmarkDebug(tensor); }
  bool isDebugTensor(const ITensor& tensor) const noexcept { return mImpl->isDebugTensor(tensor); }
  bool markUnfusedTensorsAsDebugTensors() noexcept {
    return mImpl->markUnfusedTensorsAsDebugTensors();
  }
  bool unmarkUnfusedTensorsAsDebugTensors() noexcept {
    return mImpl->unmarkUnfusedTensorsAsDebugTensors();
  }
  ILRNLayer* addLRN(ITensor& input, int64_t window, float alpha, float beta, float k) noexcept {
    return mImpl->addLRN(input, window, alpha, beta, k);
  }
  IRaggedSoftMaxLayer* addRaggedSoftMax(ITensor& input, ITensor& bounds) noexcept {
    return mImpl->addRaggedSoftMax(input, bounds);
  }
  INonZeroLayer* addNonZero(ITensor& input) noexcept { return mImpl->addNonZero(input); }
  INonZeroLayer* addNonZero(ITensor& input, DataType indicesType) noexcept {
    return mImpl->addNonZeroV2(input, indicesType);
  }
  // Plugins are cloned. Of shape inputs the plugin gets the values, as expressions in
  // getOutputShapes(), and nothing in enqueue().
  IPluginV2Layer* addPluginV2(ITensor* const* inputs, int32_t nbInputs,
                              IPluginV2& plugin) noexcept {
    return mImpl->addPluginV2(inputs, nbInputs, plugin);
  }
  IPluginV3Layer* addPluginV3(ITensor* const* inputs, int32_t nbInputs, ITensor* const* shapeInputs,
                              int32_t nbShapeInputs, IPluginV3& plugin) noexcept {
    return mImpl->addPluginV3(inputs, nbInputs, shapeInputs, nbShapeInputs, plugin);
  }
  // An output whose values are sizes, on the host.
  bool markOutputForShapes(ITensor& tensor) noexcept { return mImpl->markOutputForShapes(tensor); }
  bool unmarkOutputForShapes(ITensor& tensor) noexcept {
    return mImpl->unmarkOutputForShapes(tensor);
  }
  ILoop* addLoop() noexcept { return mImpl->addLoop(); }
  IIfConditional* addIfConditional() noexcept { return mImpl->addIfConditional(); }
  IAssertionLayer* addAssertion(ITensor& condition, const char* message) noexcept {
    return mImpl->addAssertion(condition, message);
  }
  IFillLayer* addFill(const Dims& dimensions, FillOperation op) noexcept {
    return mImpl->addFill(dimensions, op);
  }
  IFillLayer* addFill(const Dims& dimensions, FillOperation op, DataType outputType) noexcept {
    return mImpl->addFillV2(dimensions, op, outputType);
  }
  IPaddingLayer* addPaddingNd(ITensor& input, const Dims& prePadding,
                              const Dims& postPadding) noexcept {
    return mImpl->addPaddingNd(input, prePadding, postPadding);
  }
  // By which a refitter finds them. They are known by their memory, so the layer is added first.
  bool setWeightsName(Weights weights, const char* name) noexcept {
    return mImpl->setWeightsName(weights, name);
  }
  IDequantizeLayer* addDequantize(ITensor& input, ITensor& scale) noexcept {
    return mImpl->addDequantize(input, scale);
  }
  IDequantizeLayer* addDequantize(ITensor& input, ITensor& scale, DataType outputType) noexcept {
    return mImpl->addDequantizeV2(input, scale, outputType);
  }
  IScatterLayer* addScatter(ITensor& data, ITensor& indices, ITensor& updates,
                            ScatterMode mode) noexcept {
    return mImpl->addScatter(data, indices, updates, mode);
  }
  IQuantizeLayer* addQuantize(ITensor& input, ITensor& scale) noexcept {
    return mImpl->addQuantize(input, scale);
  }
  IQuantizeLayer* addQuantize(ITensor& input, ITensor& scale, DataType outputType) noexcept {
    return mImpl->addQuantizeV2(input, scale, outputType);
  }
  IDynamicQuantizeLayer* addDynamicQuantize(ITensor& input, int32_t axis, int32_t blockSize,
                                            DataType outputType, DataType scaleType) noexcept {
    return mImpl->addDynamicQuantize(input, axis, blockSize, outputType, scaleType);
  }
  IDynamicQuantizeLayer* addDynamicQuantizeV2(ITensor& input, const Dims& blockShape,
                                              DataType outputType, DataType scaleType) noexcept {
    return mImpl->addDynamicQuantizeV2(input, blockShape, outputType, scaleType);
  }
  IGridSampleLayer* addGridSample(ITensor& input, ITensor& grid) noexcept {
    return mImpl->addGridSample(input, grid);
  }
  INMSLayer* addNMS(ITensor& boxes, ITensor& scores, ITensor& maxOutputBoxesPerClass) noexcept {
    return mImpl->addNMS(boxes, scores, maxOutputBoxesPerClass);
  }
  INMSLayer* addNMS(ITensor& boxes, ITensor& scores, ITensor& maxOutputBoxesPerClass,
                    DataType indicesType) noexcept {
    return mImpl->addNMSV2(boxes, scores, maxOutputBoxesPerClass, indicesType);
  }
  IReverseSequenceLayer* addReverseSequence(ITensor& input, ITensor& sequenceLens) noexcept {
    return mImpl->addReverseSequence(input, sequenceLens);
  }
  IAttention* addAttention(ITensor& query, ITensor& key, ITensor& value,
                           AttentionNormalizationOp normOp, bool causal) noexcept {
    return mImpl->addAttention(query, key, value, normOp, causal);
  }
  IRotaryEmbeddingLayer* addRotaryEmbedding(ITensor& input, ITensor& cosCache, ITensor& sinCache,
                                            bool interleaved, int32_t rotaryEmbeddingDim) noexcept {
    return mImpl->addRotaryEmbedding(input, cosCache, sinCache, interleaved, rotaryEmbeddingDim);
  }
  IKVCacheUpdateLayer* addKVCacheUpdate(ITensor& cache, ITensor& update, ITensor& writeIndices,
                                        KVCacheMode cacheMode) noexcept {
    return mImpl->addKVCacheUpdate(cache, update, writeIndices, cacheMode);
  }
  IMoELayer* addMoE(ITensor& hiddenStates, ITensor& selectedExpertsForTokens,
                    ITensor& scoresForSelectedExperts) noexcept {
    return mImpl->addMoE(hiddenStates, selectedExpertsForTokens, scoresForSelectedExperts);
  }
  IDistCollectiveLayer* addDistCollective(ITensor& input, CollectiveOperation distCollectiveOp,
                                          ReduceOperation reduceOp, int64_t root, int64_t* groups,
                                          int64_t groupSize) noexcept {
    return mImpl->addDistCollective(input, distCollectiveOp, reduceOp, root, groups, groupSize);
  }
  // The builder that made the network.
  virtual IBuilder& getBuilder() const noexcept { return mImpl->getBuilder(); }
  // With kREFIT_INDIVIDUAL only these can be given anew.
  bool markWeightsRefittable(const char* name) noexcept {
    return mImpl->markWeightsRefittable(name);
  }
  bool unmarkWeightsRefittable(const char* name) noexcept {
    return mImpl->unmarkWeightsRefittable(name);
  }
  bool areWeightsMarkedRefittable(const char* name) const noexcept {
    return mImpl->areWeightsMarkedRefittable(name);
  }
  IAttention* addAttentionV2(ITensor& query, ITensor& key, ITensor& value,
                             AttentionNormalizationOp normOp, CausalMaskKind causalKind) noexcept {
    return mImpl->addAttentionV2(query, key, value, normOp, causalKind);
  }

 protected:
  apiv::VNetworkDefinition* mImpl{};
};

}  // namespace nvinfer1
