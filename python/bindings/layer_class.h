// The class that a layer really is, by its type.
#pragma once

#include "bindings.h"

namespace camshaft::python {

// Calls `body` with the layer as its own class. Unknown operators are plain ILayer.
template <class F>
auto withOwnClass(nvinfer1::ILayer* layer, F&& body) {
  using namespace nvinfer1;
#define CAMSHAFT_LAYER(Type, Interface) \
  case LayerType::Type:                 \
    return body(dynamic_cast<Interface*>(layer));
  switch (layer->getType()) {
    CAMSHAFT_LAYER(kCONVOLUTION, IConvolutionLayer)
    CAMSHAFT_LAYER(kDECONVOLUTION, IDeconvolutionLayer)
    CAMSHAFT_LAYER(kPOOLING, IPoolingLayer)
    CAMSHAFT_LAYER(kACTIVATION, IActivationLayer)
    CAMSHAFT_LAYER(kSCALE, IScaleLayer)
    CAMSHAFT_LAYER(kSOFTMAX, ISoftMaxLayer)
    CAMSHAFT_LAYER(kRAGGED_SOFTMAX, IRaggedSoftMaxLayer)
    CAMSHAFT_LAYER(kNORMALIZATION, INormalizationLayer)
    CAMSHAFT_LAYER(kLRN, ILRNLayer)
    CAMSHAFT_LAYER(kELEMENTWISE, IElementWiseLayer)
    CAMSHAFT_LAYER(kUNARY, IUnaryLayer)
    CAMSHAFT_LAYER(kPARAMETRIC_RELU, IParametricReLULayer)
    CAMSHAFT_LAYER(kSELECT, ISelectLayer)
    CAMSHAFT_LAYER(kREDUCE, IReduceLayer)
    CAMSHAFT_LAYER(kTOPK, ITopKLayer)
    CAMSHAFT_LAYER(kCUMULATIVE, ICumulativeLayer)
    CAMSHAFT_LAYER(kMATRIX_MULTIPLY, IMatrixMultiplyLayer)
    CAMSHAFT_LAYER(kEINSUM, IEinsumLayer)
    CAMSHAFT_LAYER(kCONSTANT, IConstantLayer)
    CAMSHAFT_LAYER(kFILL, IFillLayer)
    CAMSHAFT_LAYER(kIDENTITY, IIdentityLayer)
    CAMSHAFT_LAYER(kCAST, ICastLayer)
    CAMSHAFT_LAYER(kQUANTIZE, IQuantizeLayer)
    CAMSHAFT_LAYER(kDEQUANTIZE, IDequantizeLayer)
    CAMSHAFT_LAYER(kDYNAMIC_QUANTIZE, IDynamicQuantizeLayer)
    CAMSHAFT_LAYER(kSHAPE, IShapeLayer)
    CAMSHAFT_LAYER(kCONCATENATION, IConcatenationLayer)
    CAMSHAFT_LAYER(kSHUFFLE, IShuffleLayer)
    CAMSHAFT_LAYER(kSQUEEZE, ISqueezeLayer)
    CAMSHAFT_LAYER(kUNSQUEEZE, IUnsqueezeLayer)
    CAMSHAFT_LAYER(kSLICE, ISliceLayer)
    CAMSHAFT_LAYER(kPADDING, IPaddingLayer)
    CAMSHAFT_LAYER(kGATHER, IGatherLayer)
    CAMSHAFT_LAYER(kSCATTER, IScatterLayer)
    CAMSHAFT_LAYER(kREVERSE_SEQUENCE, IReverseSequenceLayer)
    CAMSHAFT_LAYER(kNON_ZERO, INonZeroLayer)
    CAMSHAFT_LAYER(kNMS, INMSLayer)
    CAMSHAFT_LAYER(kONE_HOT, IOneHotLayer)
    CAMSHAFT_LAYER(kRESIZE, IResizeLayer)
    CAMSHAFT_LAYER(kGRID_SAMPLE, IGridSampleLayer)
    CAMSHAFT_LAYER(kPLUGIN_V2, IPluginV2Layer)
    CAMSHAFT_LAYER(kPLUGIN_V3, IPluginV3Layer)
    CAMSHAFT_LAYER(kASSERTION, IAssertionLayer)
    CAMSHAFT_LAYER(kCONDITION, IConditionLayer)
    CAMSHAFT_LAYER(kCONDITIONAL_INPUT, IIfConditionalInputLayer)
    CAMSHAFT_LAYER(kCONDITIONAL_OUTPUT, IIfConditionalOutputLayer)
    CAMSHAFT_LAYER(kTRIP_LIMIT, ITripLimitLayer)
    CAMSHAFT_LAYER(kRECURRENCE, IRecurrenceLayer)
    CAMSHAFT_LAYER(kITERATOR, IIteratorLayer)
    CAMSHAFT_LAYER(kLOOP_OUTPUT, ILoopOutputLayer)
    CAMSHAFT_LAYER(kATTENTION_INPUT, IAttentionInputLayer)
    CAMSHAFT_LAYER(kATTENTION_OUTPUT, IAttentionOutputLayer)
    CAMSHAFT_LAYER(kROTARY_EMBEDDING, IRotaryEmbeddingLayer)
    CAMSHAFT_LAYER(kKVCACHE_UPDATE, IKVCacheUpdateLayer)
    CAMSHAFT_LAYER(kMOE, IMoELayer)
    CAMSHAFT_LAYER(kDIST_COLLECTIVE, IDistCollectiveLayer)
    default:
      return body(layer);
  }
#undef CAMSHAFT_LAYER
}

// TensorRT lists layers as plain ILayer, whose `type` is a LayerType; the classes of two kinds of
// layer have a `type` of their own instead. So what a network lists is of classes of these, whose
// `type` is that of ILayer; `layer.__class__ = IPoolingLayer` makes it a plain one.
template <class Layer>
struct Listed : Layer {};

template <class Layer>
constexpr bool hasTypeOfItsOwn = std::is_same_v<Layer, nvinfer1::IActivationLayer> ||
                                 std::is_same_v<Layer, nvinfer1::IPoolingLayer>;

// A layer as its network lists it.
using ListedLayer = Named<"ILayer">;
ListedLayer listedLayer(nvinfer1::ILayer* layer, nb::handle network);

}  // namespace camshaft::python
