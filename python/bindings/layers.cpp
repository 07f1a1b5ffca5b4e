// Tensors and layers. Layers are returned as their own class, by type.
#include <nanobind/stl/pair.h>

#include <algorithm>
#include <functional>

#include "bindings.h"

namespace camshaft::python {

using namespace nvinfer1;

namespace {

template <class L>
auto layer(nb::module_& m, const char* name) {
  return nb::class_<L, ILayer>(m, name);
}

// Weights properties: numpy out, numpy or Weights in (the array is kept by the layer object).
template <class Class, class Get, class Set>
void weights(Class& c, const char* name, Get get, Set set) {
  c.def_prop_rw(
      name, [get](nb::handle self) { return toNumpy(get(self), self); },
      [set](nb::handle self, nb::handle value) {
        PyWeights kept = weightsFrom(value);
        const OwnReason reason;
        set(self, kept.weights);
        reason.raiseIfAny();
      });
}

template <class L, class Class>
void bindWindow(Class& c) {
  c.def_prop_rw("stride_nd", &L::getStrideNd, raising<L>(&L::setStrideNd))
      .def_prop_rw("padding_nd", &L::getPaddingNd, raising<L>(&L::setPaddingNd))
      .def_prop_rw("pre_padding", &L::getPrePadding, raising<L>(&L::setPrePadding))
      .def_prop_rw("post_padding", &L::getPostPadding, raising<L>(&L::setPostPadding))
      .def_prop_rw("padding_mode", &L::getPaddingMode, raising<L>(&L::setPaddingMode));
}

template <class L>
void bindLinear(nb::module_& m, const char* name) {
  layer<L>(m, name)
      .def_prop_rw("axis", &L::getAxis, raising(&L::setAxis))
      .def_prop_rw("block_shape", &L::getBlockShape, raising(&L::setBlockShape))
      .def_prop_rw("to_type", &L::getToType, raising(&L::setToType));
}

template <class L>
void bindKernelLayer(nb::module_& m, const char* name) {
  auto c = layer<L>(m, name);
  bindWindow<L>(c);
  c.def_prop_rw("num_output_maps", &L::getNbOutputMaps, raising<L>(&L::setNbOutputMaps))
      .def_prop_rw("num_groups", &L::getNbGroups, raising<L>(&L::setNbGroups))
      .def_prop_rw("kernel_size_nd", &L::getKernelSizeNd, raising<L>(&L::setKernelSizeNd))
      .def_prop_rw("dilation_nd", &L::getDilationNd, raising<L>(&L::setDilationNd));
  weights(
      c, "kernel", [](nb::handle s) { return nb::cast<L&>(s).getKernelWeights(); },
      [](nb::handle s, Weights w) { nb::cast<L&>(s).setKernelWeights(w); });
  weights(
      c, "bias", [](nb::handle s) { return nb::cast<L&>(s).getBiasWeights(); },
      [](nb::handle s, Weights w) { nb::cast<L&>(s).setBiasWeights(w); });
}

Named<"camshaft.Permutation"> orderOf(const Permutation& permutation) {
  nb::list order;
  for (int32_t i : permutation.order) order.append(i);
  return {nb::module_::import_("camshaft").attr("Permutation")(order)};
}

Permutation permutationFrom(const std::vector<int32_t>& order) {
  if (order.size() > Dims::MAX_DIMS) throw nb::value_error("a permutation has at most 8 entries");
  Permutation permutation;
  for (int32_t i = 0; i < Dims::MAX_DIMS; ++i)
    permutation.order[i] =
        i < static_cast<int32_t>(order.size()) ? order[static_cast<size_t>(i)] : i;
  return permutation;
}

// Alpha and beta of a fill: an int stays exact where the layer counts in integers.
template <class Real, class Integer>
nb::object numberOf(const IFillLayer& fill, Real real, Integer integer) {
  return fill.isAlphaBetaInt64() ? nb::object(nb::int_((fill.*integer)()))
                                 : nb::object(nb::float_((fill.*real)()));
}
template <class Real, class Integer>
void setNumber(IFillLayer& fill, nb::handle value, Real real, Integer integer) {
  const bool counts = fill.getToType() == DataType::kINT32 || fill.getToType() == DataType::kINT64;
  if (counts && nb::isinstance<nb::int_>(value))
    raising(integer)(fill, nb::cast<int64_t>(value));
  else
    raising(real)(fill, nb::cast<double>(value));
}

void bindBases(nb::module_& m) {
  nb::class_<ITensor>(m, "ITensor")
      .def_prop_rw("name", text(&ITensor::getName), raising(&ITensor::setName))
      .def_prop_rw("shape", &ITensor::getDimensions, raising(&ITensor::setDimensions))
      .def_prop_rw("dtype", &ITensor::getType, raising(&ITensor::setType))
      .def_prop_ro("is_network_input", &ITensor::isNetworkInput)
      .def_prop_ro("is_network_output", &ITensor::isNetworkOutput)
      .def_prop_ro("is_shape_tensor", &ITensor::isShapeTensor)
      .def_prop_ro("is_execution_tensor", &ITensor::isExecutionTensor)
      .def_prop_rw("location", &ITensor::getLocation, raising(&ITensor::setLocation))
      .def_prop_rw("allowed_formats", &ITensor::getAllowedFormats,
                   raising(&ITensor::setAllowedFormats))
      .def_prop_rw("broadcast_across_batch", &ITensor::getBroadcastAcrossBatch,
                   raising(&ITensor::setBroadcastAcrossBatch))
      .def_prop_rw(
          "dynamic_range",
          [](const ITensor& self) {
            return self.dynamicRangeIsSet() ? nb::object(nb::make_tuple(self.getDynamicRangeMin(),
                                                                        self.getDynamicRangeMax()))
                                            : nb::none();
          },
          [](ITensor& self, std::pair<float, float> range) {
            raising (&ITensor::setDynamicRange)(self, range.first, range.second);
          })
      .def("set_dynamic_range", raising(&ITensor::setDynamicRange), "min"_a, "max"_a)
      .def("reset_dynamic_range", raising(&ITensor::resetDynamicRange))
      .def("set_dimension_name", raising(&ITensor::setDimensionName), "index"_a, "name"_a.none())
      .def("get_dimension_name", text(&ITensor::getDimensionName), "index"_a);
  nb::class_<ILayer>(m, "ILayer")
      .def_prop_rw("name", text(&ILayer::getName), raising(&ILayer::setName))
      .def_prop_rw("metadata", text(&ILayer::getMetadata), raising(&ILayer::setMetadata))
      .def_prop_ro("type", &ILayer::getType)
      // Two objects may stand for the same layer.
      .def(
          "__eq__", [](const ILayer& self, const ILayer* other) { return &self == other; },
          nb::is_operator(), nb::sig("def __eq__(self, arg: object, /) -> bool"))
      .def("__hash__", [](const ILayer& self) { return std::hash<const void*>()(&self); })
      .def_prop_rw("num_ranks", &ILayer::getNbRanks, raising(&ILayer::setNbRanks))
      .def_prop_ro("num_inputs", &ILayer::getNbInputs)
      .def_prop_ro("num_outputs", &ILayer::getNbOutputs)
      .def("get_input", &ILayer::getInput, "index"_a, nb::rv_policy::reference_internal)
      .def("get_output", &ILayer::getOutput, "index"_a, nb::rv_policy::reference_internal)
      .def("set_input", raising(&ILayer::setInput), "index"_a, "tensor"_a)
      .def_prop_rw("precision", &ILayer::getPrecision, raising(&ILayer::setPrecision))
      .def_prop_ro("precision_is_set", &ILayer::precisionIsSet)
      .def("reset_precision", raising(&ILayer::resetPrecision))
      .def("set_output_type", raising(&ILayer::setOutputType), "index"_a, "dtype"_a)
      .def("get_output_type", &ILayer::getOutputType, "index"_a)
      .def("output_type_is_set", &ILayer::outputTypeIsSet, "index"_a)
      .def("reset_output_type", raising(&ILayer::resetOutputType), "index"_a);
}

void bindCompute(nb::module_& m) {
  bindKernelLayer<IConvolutionLayer>(m, "IConvolutionLayer");
  bindKernelLayer<IDeconvolutionLayer>(m, "IDeconvolutionLayer");
  auto pooling = layer<IPoolingLayer>(m, "IPoolingLayer");
  bindWindow<IPoolingLayer>(pooling);
  pooling
      .def_prop_rw("type", &IPoolingLayer::getPoolingType, raising(&IPoolingLayer::setPoolingType))
      .def_prop_rw("window_size_nd", &IPoolingLayer::getWindowSizeNd,
                   raising(&IPoolingLayer::setWindowSizeNd))
      .def_prop_rw("blend_factor", &IPoolingLayer::getBlendFactor,
                   raising(&IPoolingLayer::setBlendFactor))
      .def_prop_rw("average_count_excludes_padding", &IPoolingLayer::getAverageCountExcludesPadding,
                   raising(&IPoolingLayer::setAverageCountExcludesPadding));
  layer<IActivationLayer>(m, "IActivationLayer")
      .def_prop_rw("type", &IActivationLayer::getActivationType,
                   raising(&IActivationLayer::setActivationType))
      .def_prop_rw("alpha", &IActivationLayer::getAlpha, raising(&IActivationLayer::setAlpha))
      .def_prop_rw("beta", &IActivationLayer::getBeta, raising(&IActivationLayer::setBeta));
  auto scale = layer<IScaleLayer>(m, "IScaleLayer");
  scale.def_prop_rw("mode", &IScaleLayer::getMode, raising(&IScaleLayer::setMode))
      .def_prop_rw("channel_axis", &IScaleLayer::getChannelAxis,
                   raising(&IScaleLayer::setChannelAxis));
  weights(
      scale, "shift", [](nb::handle s) { return nb::cast<IScaleLayer&>(s).getShift(); },
      [](nb::handle s, Weights w) { nb::cast<IScaleLayer&>(s).setShift(w); });
  weights(
      scale, "scale", [](nb::handle s) { return nb::cast<IScaleLayer&>(s).getScale(); },
      [](nb::handle s, Weights w) { nb::cast<IScaleLayer&>(s).setScale(w); });
  weights(
      scale, "power", [](nb::handle s) { return nb::cast<IScaleLayer&>(s).getPower(); },
      [](nb::handle s, Weights w) { nb::cast<IScaleLayer&>(s).setPower(w); });
  layer<ISoftMaxLayer>(m, "ISoftMaxLayer")
      .def_prop_rw("axes", &ISoftMaxLayer::getAxes, raising(&ISoftMaxLayer::setAxes));
  layer<IRaggedSoftMaxLayer>(m, "IRaggedSoftMaxLayer");
  layer<INormalizationLayer>(m, "INormalizationLayer")
      .def_prop_rw("epsilon", &INormalizationLayer::getEpsilon,
                   raising(&INormalizationLayer::setEpsilon))
      .def_prop_rw("axes", &INormalizationLayer::getAxes, raising(&INormalizationLayer::setAxes))
      .def_prop_rw("num_groups", &INormalizationLayer::getNbGroups,
                   raising(&INormalizationLayer::setNbGroups))
      .def_prop_rw("compute_precision", &INormalizationLayer::getComputePrecision,
                   raising(&INormalizationLayer::setComputePrecision))
      .def_prop_ro("is_v2", &INormalizationLayer::isV2);
  layer<ILRNLayer>(m, "ILRNLayer")
      .def_prop_rw("window_size", &ILRNLayer::getWindowSize, raising(&ILRNLayer::setWindowSize))
      .def_prop_rw("alpha", &ILRNLayer::getAlpha, raising(&ILRNLayer::setAlpha))
      .def_prop_rw("beta", &ILRNLayer::getBeta, raising(&ILRNLayer::setBeta))
      .def_prop_rw("k", &ILRNLayer::getK, raising(&ILRNLayer::setK));
  layer<IElementWiseLayer>(m, "IElementWiseLayer")
      .def_prop_rw("op", &IElementWiseLayer::getOperation,
                   raising(&IElementWiseLayer::setOperation));
  layer<IUnaryLayer>(m, "IUnaryLayer")
      .def_prop_rw("op", &IUnaryLayer::getOperation, raising(&IUnaryLayer::setOperation));
  layer<IParametricReLULayer>(m, "IParametricReLULayer");
  layer<ISelectLayer>(m, "ISelectLayer");
  layer<IReduceLayer>(m, "IReduceLayer")
      .def_prop_rw("op", &IReduceLayer::getOperation, raising(&IReduceLayer::setOperation))
      .def_prop_rw("axes", &IReduceLayer::getReduceAxes, raising(&IReduceLayer::setReduceAxes))
      .def_prop_rw("keep_dims", &IReduceLayer::getKeepDimensions,
                   raising(&IReduceLayer::setKeepDimensions));
  layer<ITopKLayer>(m, "ITopKLayer")
      .def_prop_rw("op", &ITopKLayer::getOperation, raising(&ITopKLayer::setOperation))
      .def_prop_rw("k", &ITopKLayer::getK, raising(&ITopKLayer::setK))
      .def_prop_rw("axes", &ITopKLayer::getReduceAxes, raising(&ITopKLayer::setReduceAxes))
      .def_prop_rw("indices_type", &ITopKLayer::getIndicesType,
                   raising(&ITopKLayer::setIndicesType));
  layer<ICumulativeLayer>(m, "ICumulativeLayer")
      .def_prop_rw("op", &ICumulativeLayer::getOperation, raising(&ICumulativeLayer::setOperation))
      .def_prop_rw("exclusive", &ICumulativeLayer::getExclusive,
                   raising(&ICumulativeLayer::setExclusive))
      .def_prop_rw("reverse", &ICumulativeLayer::getReverse,
                   raising(&ICumulativeLayer::setReverse));
  layer<IMatrixMultiplyLayer>(m, "IMatrixMultiplyLayer")
      .def_prop_rw(
          "op0", [](const IMatrixMultiplyLayer& self) { return self.getOperation(0); },
          [](IMatrixMultiplyLayer& self, MatrixOperation op) {
            raising (&IMatrixMultiplyLayer::setOperation)(self, 0, op);
          })
      .def_prop_rw(
          "op1", [](const IMatrixMultiplyLayer& self) { return self.getOperation(1); },
          [](IMatrixMultiplyLayer& self, MatrixOperation op) {
            raising (&IMatrixMultiplyLayer::setOperation)(self, 1, op);
          });
  layer<IEinsumLayer>(m, "IEinsumLayer")
      .def_prop_rw("equation", text(&IEinsumLayer::getEquation),
                   raising(&IEinsumLayer::setEquation));
}

void bindData(nb::module_& m) {
  auto constant = layer<IConstantLayer>(m, "IConstantLayer");
  constant.def_prop_rw("shape", &IConstantLayer::getDimensions,
                       raising(&IConstantLayer::setDimensions));
  weights(
      constant, "weights", [](nb::handle s) { return nb::cast<IConstantLayer&>(s).getWeights(); },
      [](nb::handle s, Weights w) { nb::cast<IConstantLayer&>(s).setWeights(w); });
  layer<IFillLayer>(m, "IFillLayer")
      .def_prop_rw("shape", &IFillLayer::getDimensions, raising(&IFillLayer::setDimensions))
      .def_prop_rw("operation", &IFillLayer::getOperation, raising(&IFillLayer::setOperation))
      .def_prop_rw(
          "alpha",
          [](const IFillLayer& self) {
            return numberOf(self, &IFillLayer::getAlpha, &IFillLayer::getAlphaInt64);
          },
          [](IFillLayer& self, nb::handle value) {
            setNumber(self, value, &IFillLayer::setAlpha, &IFillLayer::setAlphaInt64);
          })
      .def_prop_rw(
          "beta",
          [](const IFillLayer& self) {
            return numberOf(self, &IFillLayer::getBeta, &IFillLayer::getBetaInt64);
          },
          [](IFillLayer& self, nb::handle value) {
            setNumber(self, value, &IFillLayer::setBeta, &IFillLayer::setBetaInt64);
          })
      .def("is_alpha_beta_int64", &IFillLayer::isAlphaBetaInt64)
      .def_prop_rw("to_type", &IFillLayer::getToType, raising(&IFillLayer::setToType));
  layer<IIdentityLayer>(m, "IIdentityLayer");
  layer<ICastLayer>(m, "ICastLayer")
      .def_prop_rw("to_type", &ICastLayer::getToType, raising(&ICastLayer::setToType));
  bindLinear<IQuantizeLayer>(m, "IQuantizeLayer");
  bindLinear<IDequantizeLayer>(m, "IDequantizeLayer");
  layer<IDynamicQuantizeLayer>(m, "IDynamicQuantizeLayer")
      .def_prop_rw("axis", &IDynamicQuantizeLayer::getAxis,
                   raising(&IDynamicQuantizeLayer::setAxis))
      .def_prop_rw("block_size", &IDynamicQuantizeLayer::getBlockSize,
                   raising(&IDynamicQuantizeLayer::setBlockSize))
      .def_prop_rw("block_shape", &IDynamicQuantizeLayer::getBlockShape,
                   raising(&IDynamicQuantizeLayer::setBlockShape))
      .def_prop_rw("to_type", &IDynamicQuantizeLayer::getToType,
                   raising(&IDynamicQuantizeLayer::setToType))
      .def_prop_rw("scale_type", &IDynamicQuantizeLayer::getScaleType,
                   raising(&IDynamicQuantizeLayer::setScaleType));
  layer<IShapeLayer>(m, "IShapeLayer");
  layer<IConcatenationLayer>(m, "IConcatenationLayer")
      .def_prop_rw("axis", &IConcatenationLayer::getAxis, raising(&IConcatenationLayer::setAxis));
  layer<IShuffleLayer>(m, "IShuffleLayer")
      .def_prop_rw(
          "first_transpose",
          [](const IShuffleLayer& self) { return orderOf(self.getFirstTranspose()); },
          [](IShuffleLayer& self, const std::vector<int32_t>& order) {
            raising (&IShuffleLayer::setFirstTranspose)(self, permutationFrom(order));
          })
      .def_prop_rw("reshape_dims", &IShuffleLayer::getReshapeDimensions,
                   raising(&IShuffleLayer::setReshapeDimensions))
      .def_prop_rw(
          "second_transpose",
          [](const IShuffleLayer& self) { return orderOf(self.getSecondTranspose()); },
          [](IShuffleLayer& self, const std::vector<int32_t>& order) {
            raising (&IShuffleLayer::setSecondTranspose)(self, permutationFrom(order));
          })
      .def_prop_rw("zero_is_placeholder", &IShuffleLayer::getZeroIsPlaceholder,
                   raising(&IShuffleLayer::setZeroIsPlaceholder));
  layer<ISqueezeLayer>(m, "ISqueezeLayer");
  layer<IUnsqueezeLayer>(m, "IUnsqueezeLayer");
  layer<ISliceLayer>(m, "ISliceLayer")
      .def_prop_rw("start", &ISliceLayer::getStart, raising(&ISliceLayer::setStart))
      .def_prop_rw("shape", &ISliceLayer::getSize, raising(&ISliceLayer::setSize))
      .def_prop_rw("stride", &ISliceLayer::getStride, raising(&ISliceLayer::setStride))
      .def_prop_rw("mode", &ISliceLayer::getMode, raising(&ISliceLayer::setMode))
      .def_prop_rw("axes", &ISliceLayer::getAxes, raising(&ISliceLayer::setAxes));
  layer<IPaddingLayer>(m, "IPaddingLayer")
      .def_prop_rw("pre_padding_nd", &IPaddingLayer::getPrePaddingNd,
                   raising(&IPaddingLayer::setPrePaddingNd))
      .def_prop_rw("post_padding_nd", &IPaddingLayer::getPostPaddingNd,
                   raising(&IPaddingLayer::setPostPaddingNd));
  layer<IAssertionLayer>(m, "IAssertionLayer")
      .def_prop_rw("message", text(&IAssertionLayer::getMessage),
                   raising(&IAssertionLayer::setMessage));
  layer<IGatherLayer>(m, "IGatherLayer")
      .def_prop_rw("axis", &IGatherLayer::getGatherAxis, raising(&IGatherLayer::setGatherAxis))
      .def_prop_rw("num_elementwise_dims", &IGatherLayer::getNbElementWiseDims,
                   raising(&IGatherLayer::setNbElementWiseDims))
      .def_prop_rw("mode", &IGatherLayer::getMode, raising(&IGatherLayer::setMode));
  layer<IScatterLayer>(m, "IScatterLayer")
      .def_prop_rw("axis", &IScatterLayer::getAxis, raising(&IScatterLayer::setAxis))
      .def_prop_rw("mode", &IScatterLayer::getMode, raising(&IScatterLayer::setMode));
  layer<IReverseSequenceLayer>(m, "IReverseSequenceLayer")
      .def_prop_rw("batch_axis", &IReverseSequenceLayer::getBatchAxis,
                   raising(&IReverseSequenceLayer::setBatchAxis))
      .def_prop_rw("sequence_axis", &IReverseSequenceLayer::getSequenceAxis,
                   raising(&IReverseSequenceLayer::setSequenceAxis));
  layer<INonZeroLayer>(m, "INonZeroLayer")
      .def_prop_rw("indices_type", &INonZeroLayer::getIndicesType,
                   raising(&INonZeroLayer::setIndicesType));
  layer<INMSLayer>(m, "INMSLayer")
      .def_prop_rw("bounding_box_format", &INMSLayer::getBoundingBoxFormat,
                   raising(&INMSLayer::setBoundingBoxFormat))
      .def_prop_rw("topk_box_limit", &INMSLayer::getTopKBoxLimit,
                   raising(&INMSLayer::setTopKBoxLimit))
      .def_prop_rw("indices_type", &INMSLayer::getIndicesType, raising(&INMSLayer::setIndicesType));
  layer<IOneHotLayer>(m, "IOneHotLayer")
      .def_prop_rw("axis", &IOneHotLayer::getAxis, raising(&IOneHotLayer::setAxis));
  layer<IResizeLayer>(m, "IResizeLayer")
      .def_prop_rw("shape", &IResizeLayer::getOutputDimensions,
                   raising(&IResizeLayer::setOutputDimensions))
      .def_prop_rw(
          "scales",
          [](const IResizeLayer& self) {
            std::vector<float> scales(static_cast<size_t>(std::max(0, self.getScales(0, nullptr))));
            self.getScales(static_cast<int32_t>(scales.size()), scales.data());
            return scales;
          },
          [](IResizeLayer& self, const std::vector<float>& scales) {
            raising (&IResizeLayer::setScales)(self, scales.data(),
                                               static_cast<int32_t>(scales.size()));
          })
      .def_prop_rw("resize_mode", &IResizeLayer::getResizeMode,
                   raising(&IResizeLayer::setResizeMode))
      .def_prop_rw("coordinate_transformation", &IResizeLayer::getCoordinateTransformation,
                   raising(&IResizeLayer::setCoordinateTransformation))
      .def_prop_rw("selector_for_single_pixel", &IResizeLayer::getSelectorForSinglePixel,
                   raising(&IResizeLayer::setSelectorForSinglePixel))
      .def_prop_rw("nearest_rounding", &IResizeLayer::getNearestRounding,
                   raising(&IResizeLayer::setNearestRounding))
      .def_prop_rw("exclude_outside", &IResizeLayer::getExcludeOutside,
                   raising(&IResizeLayer::setExcludeOutside))
      .def_prop_rw("cubic_coeff", &IResizeLayer::getCubicCoeff,
                   raising(&IResizeLayer::setCubicCoeff));
  layer<IGridSampleLayer>(m, "IGridSampleLayer")
      .def_prop_rw("interpolation_mode", &IGridSampleLayer::getInterpolationMode,
                   raising(&IGridSampleLayer::setInterpolationMode))
      .def_prop_rw("align_corners", &IGridSampleLayer::getAlignCorners,
                   raising(&IGridSampleLayer::setAlignCorners))
      .def_prop_rw("sample_mode", &IGridSampleLayer::getSampleMode,
                   raising(&IGridSampleLayer::setSampleMode));
}

}  // namespace

void bindLayers(nb::module_& m) {
  bindBases(m);
  bindCompute(m);
  bindData(m);
}

}  // namespace camshaft::python
