#pragma once

// Build time: describe a network, say how to build it, get an engine file.

#include "NvInferComputeLayers.h"
#include "NvInferDataLayers.h"
#include "NvInferLayerBase.h"
#include "NvInferLegacyDims.h"
#include "NvInferRuntime.h"

namespace nvinfer1 {

using NetworkDefinitionCreationFlags = uint32_t;

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
class CAMSHAFT_API INetworkDefinition : public INoCopy {
 public:
  virtual void setName(const char* name) noexcept = 0;
  virtual const char* getName() const noexcept = 0;
  virtual NetworkDefinitionCreationFlags getFlags() const noexcept = 0;
  virtual bool getFlag(
      NetworkDefinitionCreationFlag networkDefinitionCreationFlag) const noexcept = 0;
  bool hasImplicitBatchDimension() const noexcept { return false; }
  virtual void setErrorRecorder(IErrorRecorder* recorder) noexcept = 0;
  virtual IErrorRecorder* getErrorRecorder() const noexcept = 0;

  // Names are unique among inputs. A dimension of -1 is known at run time.
  virtual ITensor* addInput(const char* name, DataType type, const Dims& dimensions) noexcept = 0;
  virtual void markOutput(ITensor& tensor) noexcept = 0;
  virtual void unmarkOutput(ITensor& tensor) noexcept = 0;
  // Removes a tensor that no layer reads, and its layer once the last of its tensors goes.
  virtual void removeTensor(ITensor& tensor) noexcept = 0;

  // Layers are listed in an order in which they could run; an index out of range gives null.
  virtual int32_t getNbLayers() const noexcept = 0;
  virtual ILayer* getLayer(int32_t index) const noexcept = 0;
  virtual int32_t getNbInputs() const noexcept = 0;
  virtual ITensor* getInput(int32_t index) const noexcept = 0;
  virtual int32_t getNbOutputs() const noexcept = 0;
  virtual ITensor* getOutput(int32_t index) const noexcept = 0;

  virtual IConvolutionLayer* addConvolutionNd(ITensor& input, int64_t nbOutputMaps,
                                              const Dims& kernelSize, Weights kernelWeights,
                                              Weights biasWeights) noexcept = 0;
  virtual IDeconvolutionLayer* addDeconvolutionNd(ITensor& input, int64_t nbOutputMaps,
                                                  Dims kernelSize, Weights kernelWeights,
                                                  Weights biasWeights) noexcept = 0;
  virtual IPoolingLayer* addPoolingNd(ITensor& input, PoolingType type,
                                      const Dims& windowSize) noexcept = 0;

  virtual IActivationLayer* addActivation(ITensor& input, ActivationType type) noexcept = 0;
  virtual IParametricReLULayer* addParametricReLU(ITensor& input, ITensor& slope) noexcept = 0;
  virtual IScaleLayer* addScale(ITensor& input, ScaleMode mode, Weights shift, Weights scale,
                                Weights power) noexcept = 0;
  virtual IScaleLayer* addScaleNd(ITensor& input, ScaleMode mode, Weights shift, Weights scale,
                                  Weights power, int32_t channelAxis) noexcept = 0;
  virtual IElementWiseLayer* addElementWise(ITensor& input1, ITensor& input2,
                                            ElementWiseOperation op) noexcept = 0;
  virtual IUnaryLayer* addUnary(ITensor& input, UnaryOperation operation) noexcept = 0;
  virtual ISelectLayer* addSelect(ITensor& condition, ITensor& thenInput,
                                  ITensor& elseInput) noexcept = 0;
  virtual ICastLayer* addCast(ITensor& input, DataType toType) noexcept = 0;

  virtual ISoftMaxLayer* addSoftMax(ITensor& input) noexcept = 0;
  virtual INormalizationLayer* addNormalization(ITensor& input, ITensor& scale, ITensor& bias,
                                                uint32_t axesMask) noexcept = 0;
  virtual INormalizationLayer* addNormalizationV2(ITensor& input, ITensor& scale, ITensor& bias,
                                                  uint32_t axesMask) noexcept = 0;
  virtual IReduceLayer* addReduce(ITensor& input, ReduceOperation operation, uint32_t reduceAxes,
                                  bool keepDimensions) noexcept = 0;
  // Without a type, indices are kINT32.
  virtual ITopKLayer* addTopK(ITensor& input, TopKOperation op, int32_t k,
                              uint32_t reduceAxes) noexcept = 0;
  virtual ITopKLayer* addTopK(ITensor& input, TopKOperation op, int32_t k, uint32_t reduceAxes,
                              DataType indicesType) noexcept = 0;
  virtual ICumulativeLayer* addCumulative(ITensor& input, ITensor& axis,
                                          CumulativeOperation operation, bool exclusive,
                                          bool reverse) noexcept = 0;
  virtual IMatrixMultiplyLayer* addMatrixMultiply(ITensor& input0, MatrixOperation op0,
                                                  ITensor& input1,
                                                  MatrixOperation op1) noexcept = 0;
  virtual IEinsumLayer* addEinsum(ITensor* const* inputs, int32_t nbInputs,
                                  const char* equation) noexcept = 0;

  virtual IConstantLayer* addConstant(const Dims& dimensions, Weights weights) noexcept = 0;
  virtual IIdentityLayer* addIdentity(ITensor& input) noexcept = 0;
  virtual IShapeLayer* addShape(ITensor& input) noexcept = 0;
  virtual IConcatenationLayer* addConcatenation(ITensor* const* inputs,
                                                int32_t nbInputs) noexcept = 0;
  virtual IShuffleLayer* addShuffle(ITensor& input) noexcept = 0;
  virtual ISqueezeLayer* addSqueeze(ITensor& input, ITensor& axes) noexcept = 0;
  virtual IUnsqueezeLayer* addUnsqueeze(ITensor& input, ITensor& axes) noexcept = 0;
  virtual ISliceLayer* addSlice(ITensor& input, const Dims& start, const Dims& size,
                                const Dims& stride) noexcept = 0;
  virtual IGatherLayer* addGather(ITensor& data, ITensor& indices, int32_t axis) noexcept = 0;
  virtual IGatherLayer* addGatherV2(ITensor& data, ITensor& indices, GatherMode mode) noexcept = 0;
  virtual IOneHotLayer* addOneHot(ITensor& indices, ITensor& values, ITensor& depth,
                                  int32_t axis) noexcept = 0;
  virtual IResizeLayer* addResize(ITensor& input) noexcept = 0;
};

using BuilderFlags = uint32_t;

// Bit numbers of BuilderFlags. Acting today: kTF32 (f32 products may run at TF32's precision or
// better), kFP16 and kBF16 (f32 work may be done and stored in 16 bits where the device gains from
// it, which a CPU does not; with both, kHALF, and kBF16 where weights exceed its range),
// kPREFER_PRECISION_CONSTRAINTS (types set on layers are kept where they can be) and
// kOBEY_PRECISION_CONSTRAINTS (on every device, or the build fails), kDISABLE_TIMING_CACHE.
// Refused by a build, because they ask for something that is not there yet: kREFIT,
// kREFIT_IDENTICAL, kREFIT_INDIVIDUAL, kSTRIP_PLAN (kWEIGHTLESS), kSAFETY_SCOPE,
// kVERSION_COMPATIBLE, kERROR_ON_TIMING_CACHE_MISS, kWEIGHT_STREAMING, kEDITABLE_TIMING_CACHE.
// All others grant a freedom that goes unused, or ask for what holds anyway, and change nothing.
// A new config has kTF32 set and nothing else.
enum class BuilderFlag : int32_t {
  kFP16 = 0,
  kINT8 = 1,
  kDEBUG = 2,
  kGPU_FALLBACK = 3,
  kREFIT = 4,
  kDISABLE_TIMING_CACHE = 5,
  kTF32 = 6,
  kSPARSE_WEIGHTS = 7,
  kSAFETY_SCOPE = 8,
  kOBEY_PRECISION_CONSTRAINTS = 9,
  kPREFER_PRECISION_CONSTRAINTS = 10,
  kDIRECT_IO = 11,
  kREJECT_EMPTY_ALGORITHMS = 12,
  kVERSION_COMPATIBLE = 13,
  kEXCLUDE_LEAN_RUNTIME = 14,
  kFP8 = 15,
  kERROR_ON_TIMING_CACHE_MISS = 16,
  kBF16 = 17,
  kDISABLE_COMPILATION_CACHE = 18,
  kSTRIP_PLAN = 19,
  kWEIGHTLESS = 19,
  kREFIT_IDENTICAL = 20,
  kWEIGHT_STREAMING = 21,
  kINT4 = 22,
  kREFIT_INDIVIDUAL = 23,
  kSTRICT_NANS = 24,
  kMONITOR_MEMORY = 25,
  kFP4 = 26,
  kEDITABLE_TIMING_CACHE = 27,
  kDISTRIBUTIVE_INDEPENDENCE = 28,
};
template <>
constexpr int32_t EnumMax<BuilderFlag>() noexcept {
  return 29;
}

// Remembered kernel timings, so that a later build skips measuring what this machine has measured.
// Several builds may share one cache; combine() and reset() need the cache to themselves.
class CAMSHAFT_API ITimingCache : public INoCopy {
 public:
  virtual IHostMemory* serialize() const noexcept = 0;
  // Adds the entries of inputCache. Entries name the machine they were measured on, so caches of
  // different machines mix without harm and ignoreMismatch changes nothing.
  virtual bool combine(const ITimingCache& inputCache, bool ignoreMismatch) noexcept = 0;
  // Forgets everything.
  virtual bool reset() noexcept = 0;
};

// Memory a build may plan with. Only kWORKSPACE is used today; the others are stored.
enum class MemoryPoolType : int32_t {
  kWORKSPACE = 0,
  kDLA_MANAGED_SRAM = 1,
  kDLA_LOCAL_DRAM = 2,
  kDLA_GLOBAL_DRAM = 3,
  kTACTIC_DRAM = 4,
  kTACTIC_SHARED_MEMORY = 5,
};
template <>
constexpr int32_t EnumMax<MemoryPoolType>() noexcept {
  return 6;
}

namespace v_1_0 {

// Follows a build, and can stop it. Implemented by the caller; called from the building thread and
// possibly from several at once. Phases nest: parentPhase is null for an outermost one.
class CAMSHAFT_API IProgressMonitor : public IVersionedInterface {
 public:
  InterfaceInfo getInterfaceInfo() const noexcept override { return {"IProgressMonitor", 1, 0}; }

  virtual void phaseStart(const char* phaseName, const char* parentPhase,
                          int32_t nbSteps) noexcept = 0;
  // step counts from 0; returning false stops the build, which then returns null.
  virtual bool stepComplete(const char* phaseName, int32_t step) noexcept = 0;
  virtual void phaseFinish(const char* phaseName) noexcept = 0;
};

}  // namespace v_1_0
using IProgressMonitor = v_1_0::IProgressMonitor;

// How to build. One thread at a time uses a config. A setter given nonsense reports the error and
// changes nothing.
class CAMSHAFT_API IBuilderConfig : public INoCopy {
 public:
  // Back to the state of a new config.
  virtual void reset() noexcept = 0;

  virtual void setFlags(BuilderFlags builderFlags) noexcept = 0;
  virtual BuilderFlags getFlags() const noexcept = 0;
  virtual void clearFlag(BuilderFlag builderFlag) noexcept = 0;
  virtual void setFlag(BuilderFlag builderFlag) noexcept = 0;
  virtual bool getFlag(BuilderFlag builderFlag) const noexcept = 0;

  // Where the engine is to run. Default: kGPU, which builds for the CPU, saying why in the log,
  // where no GPU can be used.
  virtual void setDefaultDeviceType(DeviceType deviceType) noexcept = 0;
  virtual DeviceType getDefaultDeviceType() const noexcept = 0;
  // Camshaft's own: builds for a GPU of this compute capability, 10 * major + minor (90 for an H200),
  // which need not be here: nothing is timed then, and the vendor's libraries are not used. 0, the
  // default: for the GPU at hand.
  virtual void setComputeCapability(int32_t capability) noexcept = 0;
  virtual int32_t getComputeCapability() const noexcept = 0;
  // Camshaft's own: leaves out a pass of the optimiser, or takes it in again, by its name in the
  // verbose log (src/passes/pipeline.cpp), to find the one that matters. False when there is none
  // of that name.
  virtual bool setPassEnabled(const char* pass, bool enabled) noexcept = 0;
  virtual bool isPassEnabled(const char* pass) const noexcept = 0;
  // Camshaft's own: builds write the graph as text into this folder, as it came and after each pass
  // that changed it. Null or empty, the default: nothing is written.
  virtual void setGraphFolder(const char* folder) noexcept = 0;
  virtual const char* getGraphFolder() const noexcept = 0;

  // 0 (quickest build) to 5 (fastest engine); 3 unless set.
  virtual void setBuilderOptimizationLevel(int32_t level) noexcept = 0;
  virtual int32_t getBuilderOptimizationLevel() noexcept = 0;
  // Runs averaged per timing of a kernel; 1 or more.
  virtual void setAvgTimingIterations(int32_t avgTiming) noexcept = 0;
  virtual int32_t getAvgTimingIterations() const noexcept = 0;
  // 0: layers of a GPU's engine run one after the other. Else those that do not need one another
  // run side by side where the build finds that faster; an engine needs no streams for that.
  virtual void setMaxAuxStreams(int32_t nbStreams) noexcept = 0;
  virtual int32_t getMaxAuxStreams() const noexcept = 0;
  // Bytes. Kernels that need more are not chosen.
  virtual void setMemoryPoolLimit(MemoryPoolType pool, std::size_t poolSize) noexcept = 0;
  virtual std::size_t getMemoryPoolLimit(MemoryPoolType pool) const noexcept = 0;

  virtual void setProfilingVerbosity(ProfilingVerbosity verbosity) noexcept = 0;
  virtual ProfilingVerbosity getProfilingVerbosity() const noexcept = 0;
  virtual void setProgressMonitor(IProgressMonitor* monitor) noexcept = 0;
  virtual IProgressMonitor* getProgressMonitor() const noexcept = 0;

  // Returns the profile's index, or -1 when it is not valid. The profile is borrowed: it stays the
  // builder's.
  virtual int32_t addOptimizationProfile(const IOptimizationProfile* profile) noexcept = 0;
  virtual int32_t getNbOptimizationProfiles() const noexcept = 0;

  // From the bytes of ITimingCache::serialize(), or empty when size is 0. Damaged bytes give null.
  virtual ITimingCache* createTimingCache(const void* blob, std::size_t size) const noexcept = 0;
  // Builds read the cache and add to it until another is set, also when the caller has ended it.
  virtual bool setTimingCache(const ITimingCache& cache, bool ignoreMismatch) noexcept = 0;
  // Null when none was set, or the caller has ended it.
  virtual const ITimingCache* getTimingCache() const noexcept = 0;
};

// Where building starts. Must outlive the networks, configs and profiles it made. One thread at a
// time uses a builder; builders are independent of each other.
class CAMSHAFT_API IBuilder : public INoCopy {
 public:
  // Whether the device that kGPU builds for gains from these types.
  virtual bool platformHasFastFp16() const noexcept = 0;
  virtual bool platformHasFastInt8() const noexcept = 0;
  virtual bool platformHasTf32() const noexcept = 0;
  virtual INetworkDefinition* createNetworkV2(NetworkDefinitionCreationFlags flags) noexcept = 0;
  virtual IBuilderConfig* createBuilderConfig() noexcept = 0;
  // The builder keeps it and ends it.
  virtual IOptimizationProfile* createOptimizationProfile() noexcept = 0;

  // The engine file, or null with the reason reported.
  virtual IHostMemory* buildSerializedNetwork(INetworkDefinition& network,
                                              IBuilderConfig& config) noexcept = 0;
  // Whether the network has what a build needs: at least one output.
  virtual bool isNetworkSupported(const INetworkDefinition& network,
                                  const IBuilderConfig& config) const noexcept = 0;

  virtual ILogger* getLogger() const noexcept = 0;
  virtual void setErrorRecorder(IErrorRecorder* recorder) noexcept = 0;
  virtual IErrorRecorder* getErrorRecorder() const noexcept = 0;
  // Most threads a build uses, the caller's included; at least 1.
  virtual bool setMaxThreads(int32_t maxThreads) noexcept = 0;
  virtual int32_t getMaxThreads() const noexcept = 0;
  // Gives the GPU memory that kernels are timed in; null: the driver does. It must outlive builds.
  virtual void setGpuAllocator(IGpuAllocator* allocator) noexcept = 0;
  // Back to the state of a new builder; what it made stays.
  virtual void reset() noexcept = 0;
};

}  // namespace nvinfer1

extern "C" CAMSHAFT_API void* createInferBuilder_INTERNAL(void* logger, int32_t version) noexcept;

namespace nvinfer1 {
namespace {

// Null when the headers and the loaded library disagree on the API version.
inline IBuilder* createInferBuilder(ILogger& logger) noexcept {
  return static_cast<IBuilder*>(createInferBuilder_INTERNAL(&logger, NV_TENSORRT_VERSION));
}

}  // namespace
}  // namespace nvinfer1
