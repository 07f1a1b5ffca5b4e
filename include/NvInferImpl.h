#pragma once

// The binary interface. A public class holds a pointer to a table, an abstract class of namespace
// apiv, and forwards to it inline. A compiled program calls table slots by their position, so the
// slots stand in the order TensorRT 10.16 has them, nothing is taken out or moved, and what is
// added comes last: any program built for TensorRT 10.0 to 10.16 fits. tests/abi holds them against
// a list.
//
// Programs use the public classes; the tables are for the library.

#include "NvInferLegacyDims.h"
#include "NvInferRuntimeCommon.h"

namespace nvinfer1 {

class IActivationLayer;
class IAlgorithm;
class IAlgorithmContext;
class IAlgorithmIOInfo;
class IAlgorithmVariant;
class IAssertionLayer;
class IAttention;
class IBuilder;
class IBuilderConfig;
class ICastLayer;
class IConcatenationLayer;
class IConditionLayer;
class IConstantLayer;
class IConvolutionLayer;
class ICudaEngine;
class ICumulativeLayer;
class IDeconvolutionLayer;
class IDequantizeLayer;
class IDevice;
class IDimensionExpr;
class IDistCollectiveLayer;
class IDynamicQuantizeLayer;
class IEinsumLayer;
class IElementWiseLayer;
class IEngineInspector;
class IExecutionContext;
class IFillLayer;
class IGatherLayer;
class IGridSampleLayer;
class IHostMemory;
class IIdentityLayer;
class IIfConditional;
class IIfConditionalInputLayer;
class IIfConditionalOutputLayer;
class IInt8Calibrator;
class IIteratorLayer;
class IKVCacheUpdateLayer;
class ILayer;
class ILogger;
class ILoop;
class ILoopOutputLayer;
class ILRNLayer;
class IMatrixMultiplyLayer;
class IMoELayer;
class INetworkDefinition;
class INMSLayer;
class INonZeroLayer;
class INormalizationLayer;
class IOneHotLayer;
class IOptimizationProfile;
class IPaddingLayer;
class IParametricReLULayer;
class IPlugin;  // of TensorRT 5: its slot is there, the class is not
class IPluginV2Layer;
class IPluginV3Layer;
class IPoolingLayer;
class IQuantizeLayer;
class IRaggedSoftMaxLayer;
class IRecurrenceLayer;
class IReduceLayer;
class IRefitter;
class IResizeLayer;
class IReverseSequenceLayer;
class IRotaryEmbeddingLayer;
class IRuntime;
class IRuntimeConfig;
class IScaleLayer;
class IScatterLayer;
class ISelectLayer;
class ISerializationConfig;
class IShapeLayer;
class IShuffleLayer;
class ISliceLayer;
class ISoftMaxLayer;
class ISqueezeLayer;
class ITensor;
class ITimingCache;
class IThreadPool;
class ITopKLayer;
class ITripLimitLayer;
class IUnaryLayer;
class IUnsqueezeLayer;
class Weights;
struct Permutation;

namespace v_1_0 {

class IAlgorithmSelector;
class IDebugListener;
class IOutputAllocator;
class IProfiler;
class IProgressMonitor;
class IStreamReader;
class IStreamReaderV2;
class IStreamWriter;
struct TimingCacheKey;
struct TimingCacheValue;

}  // namespace v_1_0
using IAlgorithmSelector = v_1_0::IAlgorithmSelector;
using IDebugListener = v_1_0::IDebugListener;
using IOutputAllocator = v_1_0::IOutputAllocator;
using IProfiler = v_1_0::IProfiler;
using IProgressMonitor = v_1_0::IProgressMonitor;
using IStreamReader = v_1_0::IStreamReader;
using IStreamReaderV2 = v_1_0::IStreamReaderV2;
using IStreamWriter = v_1_0::IStreamWriter;
using TimingCacheKey = v_1_0::TimingCacheKey;
using TimingCacheValue = v_1_0::TimingCacheValue;

enum class ActivationType : int32_t;
enum class AttentionIOForm : int32_t;
enum class AttentionNormalizationOp : int32_t;
enum class BoundingBoxFormat : int32_t;
enum class BuilderFlag : int32_t;
enum class CalibrationAlgoType : int32_t;
enum class CausalMaskKind : int32_t;
enum class CollectiveOperation : int32_t;
enum class CumulativeOperation : int32_t;
enum class DeviceType : int32_t;
enum class DimensionOperation : int32_t;
enum class ElementWiseOperation : int32_t;
enum class EngineCapability : int32_t;
enum class EngineStat : int32_t;
enum class ExecutionContextAllocationStrategy : int32_t;
enum class FillOperation : int32_t;
enum class GatherMode : int32_t;
enum class HardwareCompatibilityLevel : int32_t;
enum class InterpolationMode : int32_t;
enum class KVCacheMode : int32_t;
enum class LayerInformationFormat : int32_t;
enum class LayerType : int32_t;
enum class LoopOutput : int32_t;
enum class MatrixOperation : int32_t;
enum class MemoryPoolType : int32_t;
enum class MoEActType : int32_t;
enum class NetworkDefinitionCreationFlag : int32_t;
enum class OptProfileSelector : int32_t;
enum class PaddingMode : int32_t;
enum class PoolingType : int32_t;
enum class PreviewFeature : int32_t;
enum class ProfilingVerbosity : int32_t;
enum class QuantizationFlag : int32_t;
enum class ReduceOperation : int32_t;
enum class ResizeCoordinateTransformation : int32_t;
enum class ResizeRoundMode : int32_t;
enum class ResizeSelector : int32_t;
enum class RuntimePlatform : int32_t;
enum class SampleMode : int32_t;
enum class ScaleMode : int32_t;
enum class ScatterMode : int32_t;
enum class SerializationFlag : int32_t;
enum class TensorLocation : int32_t;
enum class TilingOptimizationLevel : int32_t;
enum class TopKOperation : int32_t;
enum class TripLimit : int32_t;
enum class UnaryOperation : int32_t;
enum class WeightsRole : int32_t;

// Bits numbered by the enumeration of the same name.
using BuilderFlags = uint32_t;
using NetworkDefinitionCreationFlags = uint32_t;
using QuantizationFlags = uint32_t;
using SerializationFlags = uint32_t;
using TacticSources = uint32_t;
using TempfileControlFlags = uint32_t;
using TensorFormats = uint32_t;

namespace apiv {

class CAMSHAFT_API VRoot {
 public:
  virtual ~VRoot() noexcept = default;
};

}  // namespace apiv
}  // namespace nvinfer1

#include "NvInferBlockTables.h"
#include "NvInferBuilderTables.h"
#include "NvInferLayerTables.h"
#include "NvInferRuntimeTables.h"
