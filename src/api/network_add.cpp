// The add* methods: parameters from arguments, then one way to add.
#include "api/layers/assertion.h"
#include "api/layers/data.h"
#include "api/layers/fill.h"
#include "api/layers/plugin.h"
#include "api/layers/pointwise.h"
#include "api/layers/product.h"
#include "api/layers/quantize.h"
#include "api/layers/reduce.h"
#include "api/layers/resize.h"
#include "api/layers/select.h"
#include "api/layers/shuffle.h"
#include "api/layers/slice.h"
#include "api/layers/window.h"
#include "api/network_add.h"

namespace camshaft::api {

using namespace nvinfer1;

namespace {

// max(0, rank - 3): the channels of an image, where softmax and concatenation start.
int64_t channelAxisOf(const ITensor& tensor) {
  return std::max(0, tensor.getDimensions().nbDims - 3);
}

// The tensors, or one that is null where a caller gave none.
std::span<ITensor* const> listOf(ITensor* const* tensors, int32_t count) {
  static constexpr ITensor* kNone = nullptr;
  return tensors && count > 0 ? std::span(tensors, count) : std::span(&kNone, 1);
}

}  // namespace

IConvolutionLayer* Network::addConvolutionNd(ITensor& input, int64_t maps,
                                             const nvinfer1::Dims& kernelSize, Weights kernel,
                                             Weights bias) noexcept {
  return add<ConvolutionLayer>("convolution", {&input}, [&] {
    ConvolutionParams params;
    params.start(input, maps, kernelSize, kernel, bias);
    return params;
  });
}

IDeconvolutionLayer* Network::addDeconvolutionNd(ITensor& input, int64_t maps,
                                                 const nvinfer1::Dims& kernelSize, Weights kernel,
                                                 Weights bias) noexcept {
  return add<DeconvolutionLayer>("deconvolution", {&input}, [&] {
    DeconvolutionParams params;
    params.start(input, maps, kernelSize, kernel, bias);
    return params;
  });
}

IPoolingLayer* Network::addPoolingNd(ITensor& input, PoolingType type,
                                     const nvinfer1::Dims& windowSize) noexcept {
  return add<PoolingLayer>("pooling", {&input}, [&] {
    PoolingParams params;
    params.start(windowSize);
    params.pooling = type;
    return params;
  });
}

IActivationLayer* Network::addActivation(ITensor& input, ActivationType type) noexcept {
  // A softplus without parameters is log(exp(x) + 1); parsers rely on it.
  const float scale = type == ActivationType::kSOFTPLUS ? 1 : 0;
  return add<ActivationLayer>("activation", {&input},
                              [&] { return ActivationParams{type, scale, scale}; });
}

IParametricReLULayer* Network::addParametricReLU(ITensor& input, ITensor& slope) noexcept {
  return add<ParametricReLULayer>("parametric_relu", {&input, &slope},
                                  [] { return ParametricReLUParams{}; });
}

IScaleLayer* Network::addScale(ITensor& input, ScaleMode mode, Weights shift, Weights scale,
                               Weights power) noexcept {
  return addScaleNd(input, mode, shift, scale, power, static_cast<int32_t>(channelAxisOf(input)));
}

IScaleLayer* Network::addScaleNd(ITensor& input, ScaleMode mode, Weights shift, Weights scale,
                                 Weights power, int32_t channelAxis) noexcept {
  return add<ScaleLayer>("scale", {&input}, [&] {
    ScaleParams params;
    params.mode = mode;
    params.shift = WeightsCopy(shift);
    params.scale = WeightsCopy(scale);
    params.power = WeightsCopy(power);
    params.channelAxis = channelAxis;
    return params;
  });
}

IElementWiseLayer* Network::addElementWise(ITensor& input1, ITensor& input2,
                                           ElementWiseOperation op) noexcept {
  return add<ElementWiseLayer>("elementwise", {&input1, &input2},
                               [&] { return ElementWiseParams{op}; });
}

IUnaryLayer* Network::addUnary(ITensor& input, UnaryOperation op) noexcept {
  return add<UnaryLayer>("unary", {&input}, [&] { return UnaryParams{op}; });
}

ISelectLayer* Network::addSelect(ITensor& condition, ITensor& thenInput,
                                 ITensor& elseInput) noexcept {
  return add<SelectLayer>("select", {&condition, &thenInput, &elseInput},
                          [] { return SelectParams{}; });
}

ICastLayer* Network::addCast(ITensor& input, nvinfer1::DataType toType) noexcept {
  return add<CastLayer>("cast", {&input}, [&] { return CastParams{toType}; });
}

IQuantizeLayer* Network::addQuantize(ITensor& input, ITensor& scale) noexcept {
  return addQuantizeV2(input, scale, nvinfer1::DataType::kINT8);
}

IQuantizeLayer* Network::addQuantizeV2(ITensor& input, ITensor& scale,
                                       nvinfer1::DataType outputType) noexcept {
  return add<QuantizeLayer>("quantize", {&input, &scale},
                            [&] { return QuantizeParams{{outputType}}; });
}

IDequantizeLayer* Network::addDequantize(ITensor& input, ITensor& scale) noexcept {
  return addDequantizeV2(input, scale, nvinfer1::DataType::kFLOAT);
}

IDequantizeLayer* Network::addDequantizeV2(ITensor& input, ITensor& scale,
                                           nvinfer1::DataType outputType) noexcept {
  return add<DequantizeLayer>("dequantize", {&input, &scale},
                              [&] { return DequantizeParams{{outputType}}; });
}

IDynamicQuantizeLayer* Network::addDynamicQuantize(ITensor& input, int32_t axis, int32_t blockSize,
                                                   nvinfer1::DataType toType,
                                                   nvinfer1::DataType scaleType) noexcept {
  return add<DynamicQuantizeLayer>("dynamic_quantize", {&input}, [&] {
    return DynamicQuantizeParams{toType, scaleType, axis, blockSize, {}};
  });
}

IDynamicQuantizeLayer* Network::addDynamicQuantizeV2(ITensor& input,
                                                     const nvinfer1::Dims& blockShape,
                                                     nvinfer1::DataType toType,
                                                     nvinfer1::DataType scaleType) noexcept {
  return add<DynamicQuantizeLayer>("dynamic_quantize", {&input}, [&] {
    DynamicQuantizeParams params{toType, scaleType};
    params.blockShape = fromPublic(blockShape);
    return params;
  });
}

ISoftMaxLayer* Network::addSoftMax(ITensor& input) noexcept {
  return add<SoftMaxLayer>("softmax", {&input},
                           [&] { return SoftMaxParams{1u << channelAxisOf(input)}; });
}

IRaggedSoftMaxLayer* Network::addRaggedSoftMax(ITensor& input, ITensor& bounds) noexcept {
  return add<RaggedSoftMaxLayer>("ragged_softmax", {&input, &bounds},
                                 [] { return RaggedSoftMaxParams{}; });
}

INormalizationLayer* Network::addNormalization(ITensor& input, ITensor& scale, ITensor& bias,
                                               uint32_t axesMask) noexcept {
  return add<NormalizationLayer>("normalization", {&input, &scale, &bias}, [&] {
    NormalizationParams params;
    params.axes = axesMask;
    return params;
  });
}

INormalizationLayer* Network::addNormalizationV2(ITensor& input, ITensor& scale, ITensor& bias,
                                                 uint32_t axesMask) noexcept {
  return add<NormalizationLayer>("normalization", {&input, &scale, &bias}, [&] {
    NormalizationParams params;
    params.axes = axesMask;
    params.perChannel = true;
    return params;
  });
}

ILRNLayer* Network::addLRN(ITensor& input, int64_t window, float alpha, float beta,
                           float k) noexcept {
  return add<LRNLayer>("lrn", {&input}, [&] { return LRNParams{window, alpha, beta, k}; });
}

IReduceLayer* Network::addReduce(ITensor& input, ReduceOperation op, uint32_t axes,
                                 bool keepDimensions) noexcept {
  return add<ReduceLayer>("reduce", {&input},
                          [&] { return ReduceParams{op, axes, keepDimensions}; });
}

ITopKLayer* Network::addTopK(ITensor& input, TopKOperation op, int32_t k, uint32_t axes) noexcept {
  return addTopKV2(input, op, k, axes, nvinfer1::DataType::kINT32);
}

ITopKLayer* Network::addTopKV2(ITensor& input, TopKOperation op, int32_t k, uint32_t axes,
                               nvinfer1::DataType indicesType) noexcept {
  return add<TopKLayer>("topk", {&input},
                        [&] { return TopKParams{op, Dim(k), axes, indicesType}; });
}

ICumulativeLayer* Network::addCumulative(ITensor& input, ITensor& axis, CumulativeOperation op,
                                         bool exclusive, bool reverse) noexcept {
  return add<CumulativeLayer>("cumulative", {&input, &axis},
                              [&] { return CumulativeParams{op, exclusive, reverse}; });
}

IMatrixMultiplyLayer* Network::addMatrixMultiply(ITensor& input0, MatrixOperation op0,
                                                 ITensor& input1, MatrixOperation op1) noexcept {
  return add<MatrixMultiplyLayer>("matrix_multiply", {&input0, &input1},
                                  [&] { return MatrixMultiplyParams{{op0, op1}}; });
}

IEinsumLayer* Network::addEinsum(ITensor* const* inputs, int32_t nbInputs,
                                 const char* equation) noexcept {
  return add<EinsumLayer>("einsum", listOf(inputs, nbInputs),
                          [&] { return EinsumParams{equation ? equation : ""}; });
}

IConstantLayer* Network::addConstant(const nvinfer1::Dims& dims, Weights weights) noexcept {
  return add<ConstantLayer>("constant", {}, [&] {
    ConstantParams params{fromPublic(dims), {}};
    params.take(weights);
    return params;
  });
}

IIdentityLayer* Network::addIdentity(ITensor& input) noexcept {
  return add<IdentityLayer>("identity", {&input}, [] { return IdentityParams{}; });
}

IShapeLayer* Network::addShape(ITensor& input) noexcept {
  return add<ShapeLayer>("shape", {&input}, [] { return ShapeParams{}; });
}

IConcatenationLayer* Network::addConcatenation(ITensor* const* inputs, int32_t nbInputs) noexcept {
  const std::span<ITensor* const> list = listOf(inputs, nbInputs);
  return add<ConcatenationLayer>("concatenation", list, [&] {
    return ConcatenationParams{list[0] ? channelAxisOf(*list[0]) : 0};
  });
}

IShuffleLayer* Network::addShuffle(ITensor& input) noexcept {
  return add<ShuffleLayer>("shuffle", {&input}, [] { return ShuffleParams{}; });
}

ISqueezeLayer* Network::addSqueeze(ITensor& input, ITensor& axes) noexcept {
  return add<SqueezeLayer>("squeeze", {&input, &axes}, [] { return SqueezeParams{}; });
}

IUnsqueezeLayer* Network::addUnsqueeze(ITensor& input, ITensor& axes) noexcept {
  return add<UnsqueezeLayer>("unsqueeze", {&input, &axes}, [] { return UnsqueezeParams{}; });
}

ISliceLayer* Network::addSlice(ITensor& input, const nvinfer1::Dims& start,
                               const nvinfer1::Dims& size, const nvinfer1::Dims& stride) noexcept {
  return add<SliceLayer>("slice", {&input}, [&] {
    SliceParams params;
    params.start = makeShape(fromPublic(start));
    params.size = makeShape(fromPublic(size));
    params.stride = makeShape(fromPublic(stride));
    return params;
  });
}

IPaddingLayer* Network::addPaddingNd(ITensor& input, const nvinfer1::Dims& prePadding,
                                     const nvinfer1::Dims& postPadding) noexcept {
  return add<PaddingLayer>("padding", {&input}, [&] {
    return PaddingParams{fromPublic(prePadding), fromPublic(postPadding)};
  });
}

IGatherLayer* Network::addGather(ITensor& data, ITensor& indices, int32_t axis) noexcept {
  return add<GatherLayer>("gather", {&data, &indices},
                          [&] { return GatherParams{GatherMode::kDEFAULT, axis, 0}; });
}

IGatherLayer* Network::addGatherV2(ITensor& data, ITensor& indices, GatherMode mode) noexcept {
  return add<GatherLayer>("gather", {&data, &indices}, [&] { return GatherParams{mode, 0, 0}; });
}

IScatterLayer* Network::addScatter(ITensor& data, ITensor& indices, ITensor& updates,
                                   ScatterMode mode) noexcept {
  return add<ScatterLayer>("scatter", {&data, &indices, &updates},
                           [&] { return ScatterParams{mode, 0}; });
}

IReverseSequenceLayer* Network::addReverseSequence(ITensor& input, ITensor& sequenceLens) noexcept {
  return add<ReverseSequenceLayer>("reverse_sequence", {&input, &sequenceLens},
                                   [] { return ReverseSequenceParams{}; });
}

INonZeroLayer* Network::addNonZero(ITensor& input) noexcept {
  return addNonZeroV2(input, nvinfer1::DataType::kINT32);
}

INonZeroLayer* Network::addNonZeroV2(ITensor& input, nvinfer1::DataType indicesType) noexcept {
  return add<NonZeroLayer>("non_zero", {&input}, [&] { return NonZeroParams{indicesType}; });
}

INMSLayer* Network::addNMS(ITensor& boxes, ITensor& scores,
                           ITensor& maxOutputBoxesPerClass) noexcept {
  return addNMSV2(boxes, scores, maxOutputBoxesPerClass, nvinfer1::DataType::kINT32);
}

INMSLayer* Network::addNMSV2(ITensor& boxes, ITensor& scores, ITensor& maxOutputBoxesPerClass,
                             nvinfer1::DataType indicesType) noexcept {
  return add<NMSLayer>("nms", {&boxes, &scores, &maxOutputBoxesPerClass},
                       [&] { return NMSParams{indicesType}; });
}

IOneHotLayer* Network::addOneHot(ITensor& indices, ITensor& values, ITensor& depth,
                                 int32_t axis) noexcept {
  return add<OneHotLayer>("one_hot", {&indices, &values, &depth},
                          [&] { return OneHotParams{axis}; });
}

IResizeLayer* Network::addResize(ITensor& input) noexcept {
  return add<ResizeLayer>("resize", {&input}, [] { return ResizeParams{}; });
}

IGridSampleLayer* Network::addGridSample(ITensor& input, ITensor& grid) noexcept {
  return add<GridSampleLayer>("grid_sample", {&input, &grid}, [] { return GridSampleParams{}; });
}

IAssertionLayer* Network::addAssertion(ITensor& condition, const char* message) noexcept {
  return add<AssertionLayer>("assertion", {&condition},
                             [&] { return AssertionParams{message ? message : ""}; });
}

IFillLayer* Network::addFill(const nvinfer1::Dims& dimensions, FillOperation op) noexcept {
  return addFillV2(dimensions, op, nvinfer1::DataType::kFLOAT);
}

IFillLayer* Network::addFillV2(const nvinfer1::Dims& dimensions, FillOperation op,
                               nvinfer1::DataType outputType) noexcept {
  return add<FillLayer>("fill", {}, [&] {
    FillParams params;
    params.dims = makeShape(fromPublic(dimensions));
    params.operation = op;
    params.type = outputType;
    return params;
  });
}

namespace {

void append(std::vector<ITensor*>& list, ITensor* const* tensors, int32_t count) {
  if (count < 0 || (count > 0 && !tensors))
    fail(ErrorKind::kInvalidArgument, "a plugin was given ", count, " inputs",
         tensors ? "" : " without a list of them");
  list.insert(list.end(), tensors, tensors + count);
}

}  // namespace

IPluginV2Layer* Network::addPluginV2(ITensor* const* inputs, int32_t nbInputs,
                                     IPluginV2& plugin) noexcept {
  return guarded<IPluginV2Layer*>(reporter_, nullptr, [&] {
    std::vector<ITensor*> all;
    append(all, inputs, nbInputs);
    return add<PluginV2Layer>("plugin", std::span<ITensor* const>(all), [&] {
      return PluginV2Layer::Params{.plugin = makeV2Operator(plugin)};
    });
  });
}

IPluginV3Layer* Network::addPluginV3(ITensor* const* inputs, int32_t nbInputs,
                                     ITensor* const* shapeInputs, int32_t nbShapeInputs,
                                     IPluginV3& plugin) noexcept {
  return guarded<IPluginV3Layer*>(reporter_, nullptr, [&] {
    std::vector<ITensor*> all;
    append(all, inputs, nbInputs);
    append(all, shapeInputs, nbShapeInputs);
    return add<PluginV3Layer>("plugin", std::span<ITensor* const>(all), [&] {
      return PluginV3Layer::Params{.plugin = makeV3Operator(plugin),
                                   .shapeInputs = static_cast<size_t>(nbShapeInputs)};
    });
  });
}

}  // namespace camshaft::api
