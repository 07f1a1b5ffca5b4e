#pragma once

// Tables of networks and of what builds them. See NvInferImpl.h.

#include "NvInferImpl.h"

namespace nvinfer1::apiv {

class CAMSHAFT_API VNetworkDefinition : public VRoot {
 public:
  virtual ITensor* addInput(const char* name, DataType type, const Dims& dimensions) noexcept = 0;
  virtual void markOutput(ITensor& tensor) noexcept = 0;
  virtual IActivationLayer* addActivation(ITensor& input, ActivationType type) noexcept = 0;
  virtual ILRNLayer* addLRN(ITensor& input, int64_t window, float alpha, float beta,
                            float k) noexcept = 0;
  virtual IScaleLayer* addScale(ITensor& input, ScaleMode mode, Weights shift, Weights scale,
                                Weights power) noexcept = 0;
  virtual ISoftMaxLayer* addSoftMax(ITensor& input) noexcept = 0;
  virtual IConcatenationLayer* addConcatenation(ITensor* const* inputs,
                                                int32_t nbInputs) noexcept = 0;
  virtual IElementWiseLayer* addElementWise(ITensor& input1, ITensor& input2,
                                            ElementWiseOperation op) noexcept = 0;
  virtual IUnaryLayer* addUnary(ITensor& input, UnaryOperation operation) noexcept = 0;
  virtual IShuffleLayer* addShuffle(ITensor& input) noexcept = 0;
  virtual int32_t getNbLayers() const noexcept = 0;
  virtual ILayer* getLayer(int32_t index) const noexcept = 0;
  virtual int32_t getNbInputs() const noexcept = 0;
  virtual ITensor* getInput(int32_t index) const noexcept = 0;
  virtual int32_t getNbOutputs() const noexcept = 0;
  virtual ITensor* getOutput(int32_t index) const noexcept = 0;
  virtual IReduceLayer* addReduce(ITensor& input, ReduceOperation operation, uint32_t reduceAxes,
                                  bool keepDimensions) noexcept = 0;
  virtual ITopKLayer* addTopK(ITensor& input, TopKOperation op, int32_t k,
                              uint32_t reduceAxes) noexcept = 0;
  virtual IGatherLayer* addGather(ITensor& data, ITensor& indices, int32_t axis) noexcept = 0;
  virtual IRaggedSoftMaxLayer* addRaggedSoftMax(ITensor& input, ITensor& bounds) noexcept = 0;
  virtual IMatrixMultiplyLayer* addMatrixMultiply(ITensor& input0, MatrixOperation op0,
                                                  ITensor& input1,
                                                  MatrixOperation op1) noexcept = 0;
  virtual IConstantLayer* addConstant(const Dims& dimensions, Weights weights) noexcept = 0;
  virtual IIdentityLayer* addIdentity(ITensor& input) noexcept = 0;
  virtual void removeTensor(ITensor& tensor) noexcept = 0;
  virtual void unmarkOutput(ITensor& tensor) noexcept = 0;
  virtual IPluginV2Layer* addPluginV2(ITensor* const* inputs, int32_t nbInputs,
                                      IPluginV2& plugin) noexcept = 0;
  virtual IPluginV3Layer* addPluginV3(ITensor* const* inputs, int32_t nbInputs,
                                      ITensor* const* shapeInputs, int32_t nbShapeInputs,
                                      IPluginV3& plugin) noexcept = 0;
  virtual ISliceLayer* addSlice(ITensor& input, const Dims& start, const Dims& size,
                                const Dims& stride) noexcept = 0;
  virtual void setName(const char* name) noexcept = 0;
  virtual const char* getName() const noexcept = 0;
  virtual IShapeLayer* addShape(ITensor& input) noexcept = 0;
  virtual bool hasImplicitBatchDimension() const noexcept = 0;
  virtual bool markOutputForShapes(ITensor& tensor) noexcept = 0;
  virtual bool unmarkOutputForShapes(ITensor& tensor) noexcept = 0;
  virtual IParametricReLULayer* addParametricReLU(ITensor& input, ITensor& slope) noexcept = 0;
  virtual IConvolutionLayer* addConvolutionNd(ITensor& input, int64_t nbOutputMaps,
                                              const Dims& kernelSize, Weights kernelWeights,
                                              Weights biasWeights) noexcept = 0;
  virtual IPoolingLayer* addPoolingNd(ITensor& input, PoolingType type,
                                      const Dims& windowSize) noexcept = 0;
  virtual IDeconvolutionLayer* addDeconvolutionNd(ITensor& input, int64_t nbOutputMaps,
                                                  const Dims& kernelSize, Weights kernelWeights,
                                                  Weights biasWeights) noexcept = 0;
  virtual IScaleLayer* addScaleNd(ITensor& input, ScaleMode mode, Weights shift, Weights scale,
                                  Weights power, int32_t channelAxis) noexcept = 0;
  virtual IResizeLayer* addResize(ITensor& input) noexcept = 0;
  virtual ILoop* addLoop() noexcept = 0;
  virtual ISelectLayer* addSelect(ITensor& condition, ITensor& thenInput,
                                  ITensor& elseInput) noexcept = 0;
  virtual IFillLayer* addFill(const Dims& dimensions, FillOperation op) noexcept = 0;
  virtual IPaddingLayer* addPaddingNd(ITensor& input, const Dims& prePadding,
                                      const Dims& postPadding) noexcept = 0;
  virtual bool setWeightsName(Weights weights, const char* name) noexcept = 0;
  virtual void setErrorRecorder(IErrorRecorder* recorder) noexcept = 0;
  virtual IErrorRecorder* getErrorRecorder() const noexcept = 0;
  virtual IDequantizeLayer* addDequantize(ITensor& input, ITensor& scale) noexcept = 0;
  virtual IQuantizeLayer* addQuantize(ITensor& input, ITensor& scale) noexcept = 0;
  virtual IGatherLayer* addGatherV2(ITensor& data, ITensor& indices, GatherMode mode) noexcept = 0;
  virtual IIfConditional* addIfConditional() noexcept = 0;
  virtual IScatterLayer* addScatter(ITensor& data, ITensor& indices, ITensor& updates,
                                    ScatterMode mode) noexcept = 0;
  virtual IEinsumLayer* addEinsum(ITensor* const* inputs, int32_t nbInputs,
                                  const char* equation) noexcept = 0;
  virtual IAssertionLayer* addAssertion(ITensor& condition, const char* message) noexcept = 0;
  virtual IOneHotLayer* addOneHot(ITensor& indices, ITensor& values, ITensor& depth,
                                  int32_t axis) noexcept = 0;
  virtual INonZeroLayer* addNonZero(ITensor& input) noexcept = 0;
  virtual IGridSampleLayer* addGridSample(ITensor& input, ITensor& grid) noexcept = 0;
  virtual INMSLayer* addNMS(ITensor& boxes, ITensor& scores,
                            ITensor& maxOutputBoxesPerClass) noexcept = 0;
  virtual IReverseSequenceLayer* addReverseSequence(ITensor& input,
                                                    ITensor& sequenceLens) noexcept = 0;
  virtual INormalizationLayer* addNormalization(ITensor& input, ITensor& scale, ITensor& bias,
                                                uint32_t axesMask) noexcept = 0;
  virtual ICastLayer* addCast(ITensor& input, DataType toType) noexcept = 0;
  virtual IBuilder& getBuilder() const noexcept = 0;
  virtual NetworkDefinitionCreationFlags getFlags() const noexcept = 0;
  virtual bool getFlag(
      NetworkDefinitionCreationFlag networkDefinitionCreationFlag) const noexcept = 0;
  virtual IQuantizeLayer* addQuantizeV2(ITensor& input, ITensor& scale,
                                        DataType outputType) noexcept = 0;
  virtual IDequantizeLayer* addDequantizeV2(ITensor& input, ITensor& scale,
                                            DataType outputType) noexcept = 0;
  virtual IFillLayer* addFillV2(const Dims& dimensions, FillOperation op,
                                DataType outputType) noexcept = 0;
  virtual bool markDebug(ITensor& tensor) noexcept = 0;
  virtual bool unmarkDebug(ITensor& tensor) noexcept = 0;
  virtual bool isDebugTensor(const ITensor& tensor) const noexcept = 0;
  virtual bool markWeightsRefittable(const char* name) noexcept = 0;
  virtual bool unmarkWeightsRefittable(const char* name) noexcept = 0;
  virtual bool areWeightsMarkedRefittable(const char* name) const noexcept = 0;
  virtual ISqueezeLayer* addSqueeze(ITensor& input, ITensor& axes) noexcept = 0;
  virtual IUnsqueezeLayer* addUnsqueeze(ITensor& input, ITensor& axes) noexcept = 0;
  virtual IDynamicQuantizeLayer* addDynamicQuantize(ITensor& input, int32_t axis, int32_t blockSize,
                                                    DataType toType,
                                                    DataType scaleType) noexcept = 0;
  virtual ICumulativeLayer* addCumulative(ITensor& input, ITensor& axis,
                                          CumulativeOperation operation, bool exclusive,
                                          bool reverse) noexcept = 0;
  virtual bool markUnfusedTensorsAsDebugTensors() noexcept = 0;
  virtual bool unmarkUnfusedTensorsAsDebugTensors() noexcept = 0;
  virtual ITopKLayer* addTopKV2(ITensor& input, TopKOperation op, int32_t k, uint32_t reduceAxes,
                                DataType indicesType) noexcept = 0;
  virtual INonZeroLayer* addNonZeroV2(ITensor& input, DataType indicesType) noexcept = 0;
  virtual INMSLayer* addNMSV2(ITensor& boxes, ITensor& scores, ITensor& maxOutputBoxesPerClass,
                              DataType indicesType) noexcept = 0;
  virtual IAttention* addAttention(ITensor& query, ITensor& key, ITensor& value,
                                   AttentionNormalizationOp normOp, bool isCausal) noexcept = 0;
  virtual IRotaryEmbeddingLayer* addRotaryEmbedding(ITensor& input, ITensor& cosCache,
                                                    ITensor& sinCache, bool interleaved,
                                                    int32_t rotaryEmbeddingDim) noexcept = 0;
  virtual IDynamicQuantizeLayer* addDynamicQuantizeV2(ITensor& input, const Dims& blockShape,
                                                      DataType toType,
                                                      DataType scaleType) noexcept = 0;
  virtual IKVCacheUpdateLayer* addKVCacheUpdate(ITensor& cache, ITensor& update,
                                                ITensor& writeIndices,
                                                KVCacheMode cacheMode) noexcept = 0;
  virtual INormalizationLayer* addNormalizationV2(ITensor& input, ITensor& scale, ITensor& bias,
                                                  uint32_t axesMask) noexcept = 0;
  virtual IMoELayer* addMoE(ITensor& hiddenStates, ITensor& selectedExpertsForTokens,
                            ITensor& scoresForSelectedExperts) noexcept = 0;
  virtual IDistCollectiveLayer* addDistCollective(ITensor& input,
                                                  CollectiveOperation distCollectiveOp,
                                                  ReduceOperation reduceOp, int64_t root,
                                                  int64_t* groups, int64_t groupSize) noexcept = 0;

  // TensorRT 11.1
  virtual IAttention* addAttentionV2(ITensor& query, ITensor& key, ITensor& value,
                                     AttentionNormalizationOp normOp,
                                     CausalMaskKind causalKind) noexcept = 0;
};

class CAMSHAFT_API VAlgorithmIOInfo : public VRoot {
 public:
  virtual DataType getDataType() const noexcept = 0;
  virtual Dims getStrides() const noexcept = 0;
  virtual int64_t getVectorizedDim() const noexcept = 0;
  virtual int64_t getComponentsPerElement() const noexcept = 0;
};

class CAMSHAFT_API VAlgorithmVariant : public VRoot {
 public:
  virtual int64_t getImplementation() const noexcept = 0;
  virtual int64_t getTactic() const noexcept = 0;
};

class CAMSHAFT_API VAlgorithmContext : public VRoot {
 public:
  virtual const char* getName() const noexcept = 0;
  virtual Dims getDimensions(int32_t index, OptProfileSelector select) const noexcept = 0;
  virtual int32_t getNbInputs() const noexcept = 0;
  virtual int32_t getNbOutputs() const noexcept = 0;
};

class CAMSHAFT_API VAlgorithm : public VRoot {
 public:
  virtual const IAlgorithmVariant& getAlgorithmVariant() const noexcept = 0;
  virtual float getTimingMSec() const noexcept = 0;
  virtual std::size_t getWorkspaceSize() const noexcept = 0;
  virtual const IAlgorithmIOInfo* getAlgorithmIOInfoByIndex(int32_t index) const noexcept = 0;
};

class CAMSHAFT_API VTimingCache : public VRoot {
 public:
  virtual IHostMemory* serialize() const noexcept = 0;
  virtual bool combine(const ITimingCache& inputCache, bool ignoreMismatch) noexcept = 0;
  virtual bool reset() noexcept = 0;
  virtual int64_t queryKeys(TimingCacheKey* keyBuffer, int64_t capacity) const noexcept = 0;
  virtual TimingCacheValue query(const TimingCacheKey& key) const noexcept = 0;
  virtual bool update(const TimingCacheKey& key, const TimingCacheValue& value) noexcept = 0;
};

class CAMSHAFT_API VBuilderConfig : public VRoot {
 public:
  virtual void setAvgTimingIterations(int32_t avgTiming) noexcept = 0;
  virtual int32_t getAvgTimingIterations() const noexcept = 0;
  virtual void setEngineCapability(EngineCapability capability) noexcept = 0;
  virtual EngineCapability getEngineCapability() const noexcept = 0;
  virtual void setInt8Calibrator(IInt8Calibrator* calibrator) noexcept = 0;
  virtual IInt8Calibrator* getInt8Calibrator() const noexcept = 0;
  virtual void setFlags(BuilderFlags builderFlags) noexcept = 0;
  virtual BuilderFlags getFlags() const noexcept = 0;
  virtual void clearFlag(BuilderFlag builderFlag) noexcept = 0;
  virtual void setFlag(BuilderFlag builderFlag) noexcept = 0;
  virtual bool getFlag(BuilderFlag builderFlag) const noexcept = 0;
  virtual void setDeviceType(const ILayer* layer, DeviceType deviceType) noexcept = 0;
  virtual DeviceType getDeviceType(const ILayer* layer) const noexcept = 0;
  virtual bool isDeviceTypeSet(const ILayer* layer) const noexcept = 0;
  virtual void resetDeviceType(const ILayer* layer) noexcept = 0;
  virtual bool canRunOnDLA(const ILayer* layer) const noexcept = 0;
  virtual void setDLACore(int32_t dlaCore) noexcept = 0;
  virtual int32_t getDLACore() const noexcept = 0;
  virtual void setDefaultDeviceType(DeviceType deviceType) noexcept = 0;
  virtual DeviceType getDefaultDeviceType() const noexcept = 0;
  virtual void reset() noexcept = 0;
  virtual void setProfileStream(const cudaStream_t stream) noexcept = 0;
  virtual cudaStream_t getProfileStream() const noexcept = 0;
  virtual int32_t addOptimizationProfile(const IOptimizationProfile* profile) noexcept = 0;
  virtual int32_t getNbOptimizationProfiles() const noexcept = 0;
  virtual void setProfilingVerbosity(ProfilingVerbosity verbosity) noexcept = 0;
  virtual ProfilingVerbosity getProfilingVerbosity() const noexcept = 0;
  virtual void setAlgorithmSelector(IAlgorithmSelector* selector) noexcept = 0;
  virtual IAlgorithmSelector* getAlgorithmSelector() const noexcept = 0;
  virtual bool setCalibrationProfile(const IOptimizationProfile* profile) noexcept = 0;
  virtual const IOptimizationProfile* getCalibrationProfile() noexcept = 0;
  virtual void setQuantizationFlags(QuantizationFlags flags) noexcept = 0;
  virtual QuantizationFlags getQuantizationFlags() const noexcept = 0;
  virtual void clearQuantizationFlag(QuantizationFlag flag) noexcept = 0;
  virtual void setQuantizationFlag(QuantizationFlag flag) noexcept = 0;
  virtual bool getQuantizationFlag(QuantizationFlag flag) const noexcept = 0;
  virtual bool setTacticSources(TacticSources tacticSources) noexcept = 0;
  virtual TacticSources getTacticSources() const noexcept = 0;
  virtual ITimingCache* createTimingCache(const void* blob, std::size_t size) const noexcept = 0;
  virtual bool setTimingCache(const ITimingCache& cache, bool ignoreMismatch) noexcept = 0;
  virtual const ITimingCache* getTimingCache() const noexcept = 0;
  virtual void setMemoryPoolLimit(MemoryPoolType pool, std::size_t poolSize) noexcept = 0;
  virtual std::size_t getMemoryPoolLimit(MemoryPoolType pool) const noexcept = 0;
  virtual void setPreviewFeature(PreviewFeature feature, bool enable) noexcept = 0;
  virtual bool getPreviewFeature(PreviewFeature feature) const noexcept = 0;
  virtual void setBuilderOptimizationLevel(int32_t level) noexcept = 0;
  virtual int32_t getBuilderOptimizationLevel() const noexcept = 0;
  virtual void setHardwareCompatibilityLevel(
      HardwareCompatibilityLevel hardwareCompatibilityLevel) noexcept = 0;
  virtual HardwareCompatibilityLevel getHardwareCompatibilityLevel() const noexcept = 0;
  virtual void setPluginsToSerialize(const char* const* paths, int32_t nbPaths) noexcept = 0;
  virtual const char* getPluginToSerialize(int32_t index) const noexcept = 0;
  virtual int32_t getNbPluginsToSerialize() const noexcept = 0;
  virtual void setMaxAuxStreams(int32_t nbStreams) noexcept = 0;
  virtual int32_t getMaxAuxStreams() const noexcept = 0;
  virtual void setProgressMonitor(IProgressMonitor* monitor) noexcept = 0;
  virtual IProgressMonitor* getProgressMonitor() const noexcept = 0;
  virtual void setRuntimePlatform(RuntimePlatform runtimePlatform) noexcept = 0;
  virtual RuntimePlatform getRuntimePlatform() const noexcept = 0;
  virtual void setMaxNbTactics(int32_t maxTactics) noexcept = 0;
  virtual int32_t getMaxNbTactics() const noexcept = 0;
  virtual bool setTilingOptimizationLevel(TilingOptimizationLevel level) noexcept = 0;
  virtual TilingOptimizationLevel getTilingOptimizationLevel() const noexcept = 0;
  virtual bool setL2LimitForTiling(int64_t size) noexcept = 0;
  virtual int64_t getL2LimitForTiling() const noexcept = 0;
  virtual bool setRemoteAutoTuningConfig(const char* config) noexcept = 0;
  virtual const char* getRemoteAutoTuningConfig() const noexcept = 0;

  // TensorRT 11.1
  virtual bool setBuildRoute(const char* buildRoute) noexcept = 0;
  virtual const char* getBuildRoute() const noexcept = 0;
  virtual const char* getAllBuildRoutes() const noexcept = 0;

  // Camshaft
  virtual void setComputeCapability(int32_t capability) noexcept = 0;
  virtual int32_t getComputeCapability() const noexcept = 0;
  virtual bool setPassEnabled(const char* pass, bool enabled) noexcept = 0;
  virtual bool isPassEnabled(const char* pass) const noexcept = 0;
  virtual void setGraphFolder(const char* folder) noexcept = 0;
  virtual const char* getGraphFolder() const noexcept = 0;
};

class CAMSHAFT_API VBuilder : public VRoot {
 public:
  virtual bool platformHasFastFp16() const noexcept = 0;
  virtual bool platformHasFastInt8() const noexcept = 0;
  virtual int32_t getMaxDLABatchSize() const noexcept = 0;
  virtual int32_t getNbDLACores() const noexcept = 0;
  virtual void setGpuAllocator(IGpuAllocator* allocator) noexcept = 0;
  virtual IBuilderConfig* createBuilderConfig() noexcept = 0;
  virtual INetworkDefinition* createNetworkV2(NetworkDefinitionCreationFlags flags) noexcept = 0;
  virtual IOptimizationProfile* createOptimizationProfile() noexcept = 0;
  virtual void setErrorRecorder(IErrorRecorder* recorder) noexcept = 0;
  virtual IErrorRecorder* getErrorRecorder() const noexcept = 0;
  virtual void reset() noexcept = 0;
  virtual bool platformHasTf32() const noexcept = 0;
  virtual IHostMemory* buildSerializedNetwork(INetworkDefinition& network,
                                              IBuilderConfig& config) noexcept = 0;
  virtual bool isNetworkSupported(const INetworkDefinition& network,
                                  const IBuilderConfig& config) const noexcept = 0;
  virtual ILogger* getLogger() const noexcept = 0;
  virtual bool setMaxThreads(int32_t maxThreads) noexcept = 0;
  virtual int32_t getMaxThreads() const noexcept = 0;
  virtual IPluginRegistry& getPluginRegistry() noexcept = 0;
  virtual ICudaEngine* buildEngineWithConfig(INetworkDefinition& network,
                                             IBuilderConfig& config) noexcept = 0;
  virtual bool buildSerializedNetworkToStream(INetworkDefinition& network, IBuilderConfig& config,
                                              IStreamWriter& writer) noexcept = 0;
  virtual IHostMemory* buildSerializedNetworkWithKernelText(INetworkDefinition& network,
                                                            IBuilderConfig& config,
                                                            IHostMemory*& kernelText) noexcept = 0;
};

}  // namespace nvinfer1::apiv
