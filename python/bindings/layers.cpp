// Tensors and layers. Layers are returned as their own class, by type.
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
  c.def_prop_rw(name,
                [get](nb::handle self) { return toNumpy(get(self), self); },
                [set](nb::handle self, nb::handle value) {
                  PyWeights kept = weightsFrom(value);
                  set(self, kept.weights);
                });
}

template <class L, class Class>
void bindWindow(Class& c) {
  c.def_prop_rw("stride_nd", &L::getStrideNd, &L::setStrideNd)
      .def_prop_rw("padding_nd", &L::getPaddingNd, &L::setPaddingNd)
      .def_prop_rw("pre_padding", &L::getPrePadding, &L::setPrePadding)
      .def_prop_rw("post_padding", &L::getPostPadding, &L::setPostPadding)
      .def_prop_rw("padding_mode", &L::getPaddingMode, &L::setPaddingMode);
}

template <class L>
void bindKernelLayer(nb::module_& m, const char* name) {
  auto c = layer<L>(m, name);
  bindWindow<L>(c);
  c.def_prop_rw("num_output_maps", &L::getNbOutputMaps, &L::setNbOutputMaps)
      .def_prop_rw("num_groups", &L::getNbGroups, &L::setNbGroups)
      .def_prop_rw("kernel_size_nd", &L::getKernelSizeNd, &L::setKernelSizeNd)
      .def_prop_rw("dilation_nd", &L::getDilationNd, &L::setDilationNd);
  weights(c, "kernel", [](nb::handle s) { return nb::cast<L&>(s).getKernelWeights(); },
          [](nb::handle s, Weights w) { nb::cast<L&>(s).setKernelWeights(w); });
  weights(c, "bias", [](nb::handle s) { return nb::cast<L&>(s).getBiasWeights(); },
          [](nb::handle s, Weights w) { nb::cast<L&>(s).setBiasWeights(w); });
}

nb::tuple orderOf(const Permutation& permutation) {
  nb::list order;
  for (int32_t i : permutation.order) order.append(i);
  return nb::tuple(order);
}

Permutation permutationFrom(const std::vector<int32_t>& order) {
  if (order.size() > Dims::MAX_DIMS) throw nb::value_error("a permutation has at most 8 entries");
  Permutation permutation;
  for (int32_t i = 0; i < Dims::MAX_DIMS; ++i)
    permutation.order[i] = i < static_cast<int32_t>(order.size()) ? order[static_cast<size_t>(i)] : i;
  return permutation;
}

void bindBases(nb::module_& m) {
  nb::class_<ITensor>(m, "ITensor")
      .def_prop_rw("name", &ITensor::getName, &ITensor::setName)
      .def_prop_rw("shape", &ITensor::getDimensions, &ITensor::setDimensions)
      .def_prop_rw("dtype", &ITensor::getType, &ITensor::setType)
      .def_prop_ro("is_network_input", &ITensor::isNetworkInput)
      .def_prop_ro("is_network_output", &ITensor::isNetworkOutput)
      .def_prop_ro("is_shape_tensor", &ITensor::isShapeTensor)
      .def_prop_ro("is_execution_tensor", &ITensor::isExecutionTensor)
      .def("set_dimension_name", &ITensor::setDimensionName, "index"_a, "name"_a)
      .def("get_dimension_name", &ITensor::getDimensionName, "index"_a);
  nb::class_<ILayer>(m, "ILayer")
      .def_prop_rw("name", &ILayer::getName, &ILayer::setName)
      .def_prop_rw("metadata", &ILayer::getMetadata, &ILayer::setMetadata)
      .def_prop_ro("type", &ILayer::getType)
      .def_prop_ro("num_inputs", &ILayer::getNbInputs)
      .def_prop_ro("num_outputs", &ILayer::getNbOutputs)
      .def("get_input", &ILayer::getInput, "index"_a, nb::rv_policy::reference_internal)
      .def("get_output", &ILayer::getOutput, "index"_a, nb::rv_policy::reference_internal)
      .def("set_input", &ILayer::setInput, "index"_a, "tensor"_a)
      .def_prop_rw("precision", &ILayer::getPrecision, &ILayer::setPrecision)
      .def_prop_ro("precision_is_set", &ILayer::precisionIsSet)
      .def("reset_precision", &ILayer::resetPrecision)
      .def("set_output_type", &ILayer::setOutputType, "index"_a, "dtype"_a)
      .def("get_output_type", &ILayer::getOutputType, "index"_a)
      .def("output_type_is_set", &ILayer::outputTypeIsSet, "index"_a)
      .def("reset_output_type", &ILayer::resetOutputType, "index"_a);
}

void bindCompute(nb::module_& m) {
  bindKernelLayer<IConvolutionLayer>(m, "IConvolutionLayer");
  bindKernelLayer<IDeconvolutionLayer>(m, "IDeconvolutionLayer");
  auto pooling = layer<IPoolingLayer>(m, "IPoolingLayer");
  bindWindow<IPoolingLayer>(pooling);
  pooling.def_prop_rw("type", &IPoolingLayer::getPoolingType, &IPoolingLayer::setPoolingType)
      .def_prop_rw("window_size_nd", &IPoolingLayer::getWindowSizeNd, &IPoolingLayer::setWindowSizeNd)
      .def_prop_rw("blend_factor", &IPoolingLayer::getBlendFactor, &IPoolingLayer::setBlendFactor)
      .def_prop_rw("average_count_excludes_padding", &IPoolingLayer::getAverageCountExcludesPadding, &IPoolingLayer::setAverageCountExcludesPadding);
  layer<IActivationLayer>(m, "IActivationLayer")
      .def_prop_rw("type", &IActivationLayer::getActivationType, &IActivationLayer::setActivationType)
      .def_prop_rw("alpha", &IActivationLayer::getAlpha, &IActivationLayer::setAlpha)
      .def_prop_rw("beta", &IActivationLayer::getBeta, &IActivationLayer::setBeta);
  auto scale = layer<IScaleLayer>(m, "IScaleLayer");
  scale.def_prop_rw("mode", &IScaleLayer::getMode, &IScaleLayer::setMode)
      .def_prop_rw("channel_axis", &IScaleLayer::getChannelAxis, &IScaleLayer::setChannelAxis);
  weights(scale, "shift", [](nb::handle s) { return nb::cast<IScaleLayer&>(s).getShift(); }, [](nb::handle s, Weights w) { nb::cast<IScaleLayer&>(s).setShift(w); });
  weights(scale, "scale", [](nb::handle s) { return nb::cast<IScaleLayer&>(s).getScale(); }, [](nb::handle s, Weights w) { nb::cast<IScaleLayer&>(s).setScale(w); });
  weights(scale, "power", [](nb::handle s) { return nb::cast<IScaleLayer&>(s).getPower(); }, [](nb::handle s, Weights w) { nb::cast<IScaleLayer&>(s).setPower(w); });
  layer<ISoftMaxLayer>(m, "ISoftMaxLayer").def_prop_rw("axes", &ISoftMaxLayer::getAxes, &ISoftMaxLayer::setAxes);
  layer<INormalizationLayer>(m, "INormalizationLayer")
      .def_prop_rw("epsilon", &INormalizationLayer::getEpsilon, &INormalizationLayer::setEpsilon)
      .def_prop_rw("axes", &INormalizationLayer::getAxes, &INormalizationLayer::setAxes)
      .def_prop_rw("num_groups", &INormalizationLayer::getNbGroups, &INormalizationLayer::setNbGroups)
      .def_prop_rw("compute_precision", &INormalizationLayer::getComputePrecision, &INormalizationLayer::setComputePrecision)
      .def_prop_ro("is_v2", &INormalizationLayer::isV2);
  layer<IElementWiseLayer>(m, "IElementWiseLayer").def_prop_rw("op", &IElementWiseLayer::getOperation, &IElementWiseLayer::setOperation);
  layer<IUnaryLayer>(m, "IUnaryLayer").def_prop_rw("op", &IUnaryLayer::getOperation, &IUnaryLayer::setOperation);
  layer<IParametricReLULayer>(m, "IParametricReLULayer");
  layer<ISelectLayer>(m, "ISelectLayer");
  layer<IReduceLayer>(m, "IReduceLayer")
      .def_prop_rw("op", &IReduceLayer::getOperation, &IReduceLayer::setOperation)
      .def_prop_rw("axes", &IReduceLayer::getReduceAxes, &IReduceLayer::setReduceAxes)
      .def_prop_rw("keep_dims", &IReduceLayer::getKeepDimensions, &IReduceLayer::setKeepDimensions);
  layer<ITopKLayer>(m, "ITopKLayer")
      .def_prop_rw("op", &ITopKLayer::getOperation, &ITopKLayer::setOperation)
      .def_prop_rw("k", &ITopKLayer::getK, &ITopKLayer::setK)
      .def_prop_rw("axes", &ITopKLayer::getReduceAxes, &ITopKLayer::setReduceAxes)
      .def_prop_rw("indices_type", &ITopKLayer::getIndicesType, [](ITopKLayer& self, DataType type) { self.setIndicesType(type); });
  layer<ICumulativeLayer>(m, "ICumulativeLayer")
      .def_prop_rw("op", &ICumulativeLayer::getOperation, [](ICumulativeLayer& self, CumulativeOperation op) { self.setOperation(op); })
      .def_prop_rw("exclusive", &ICumulativeLayer::getExclusive, &ICumulativeLayer::setExclusive)
      .def_prop_rw("reverse", &ICumulativeLayer::getReverse, &ICumulativeLayer::setReverse);
  layer<IMatrixMultiplyLayer>(m, "IMatrixMultiplyLayer")
      .def_prop_rw("op0", [](const IMatrixMultiplyLayer& self) { return self.getOperation(0); }, [](IMatrixMultiplyLayer& self, MatrixOperation op) { self.setOperation(0, op); })
      .def_prop_rw("op1", [](const IMatrixMultiplyLayer& self) { return self.getOperation(1); }, [](IMatrixMultiplyLayer& self, MatrixOperation op) { self.setOperation(1, op); });
  layer<IEinsumLayer>(m, "IEinsumLayer").def_prop_rw("equation", &IEinsumLayer::getEquation, [](IEinsumLayer& self, const char* equation) { self.setEquation(equation); });
}

void bindData(nb::module_& m) {
  auto constant = layer<IConstantLayer>(m, "IConstantLayer");
  constant.def_prop_rw("shape", &IConstantLayer::getDimensions, &IConstantLayer::setDimensions);
  weights(constant, "weights", [](nb::handle s) { return nb::cast<IConstantLayer&>(s).getWeights(); }, [](nb::handle s, Weights w) { nb::cast<IConstantLayer&>(s).setWeights(w); });
  layer<IIdentityLayer>(m, "IIdentityLayer");
  layer<ICastLayer>(m, "ICastLayer").def_prop_rw("to_type", &ICastLayer::getToType, &ICastLayer::setToType);
  layer<IShapeLayer>(m, "IShapeLayer");
  layer<IConcatenationLayer>(m, "IConcatenationLayer").def_prop_rw("axis", &IConcatenationLayer::getAxis, &IConcatenationLayer::setAxis);
  layer<IShuffleLayer>(m, "IShuffleLayer")
      .def_prop_rw("first_transpose", [](const IShuffleLayer& self) { return orderOf(self.getFirstTranspose()); },
                   [](IShuffleLayer& self, const std::vector<int32_t>& order) { self.setFirstTranspose(permutationFrom(order)); })
      .def_prop_rw("reshape_dims", &IShuffleLayer::getReshapeDimensions, &IShuffleLayer::setReshapeDimensions)
      .def_prop_rw("second_transpose", [](const IShuffleLayer& self) { return orderOf(self.getSecondTranspose()); },
                   [](IShuffleLayer& self, const std::vector<int32_t>& order) { self.setSecondTranspose(permutationFrom(order)); })
      .def_prop_rw("zero_is_placeholder", &IShuffleLayer::getZeroIsPlaceholder, &IShuffleLayer::setZeroIsPlaceholder);
  layer<ISqueezeLayer>(m, "ISqueezeLayer");
  layer<IUnsqueezeLayer>(m, "IUnsqueezeLayer");
  layer<ISliceLayer>(m, "ISliceLayer")
      .def_prop_rw("start", &ISliceLayer::getStart, &ISliceLayer::setStart)
      .def_prop_rw("shape", &ISliceLayer::getSize, &ISliceLayer::setSize)
      .def_prop_rw("stride", &ISliceLayer::getStride, &ISliceLayer::setStride)
      .def_prop_rw("mode", &ISliceLayer::getMode, &ISliceLayer::setMode)
      .def_prop_rw("axes", &ISliceLayer::getAxes, &ISliceLayer::setAxes);
  layer<IGatherLayer>(m, "IGatherLayer")
      .def_prop_rw("axis", &IGatherLayer::getGatherAxis, &IGatherLayer::setGatherAxis)
      .def_prop_rw("num_elementwise_dims", &IGatherLayer::getNbElementWiseDims, &IGatherLayer::setNbElementWiseDims)
      .def_prop_rw("mode", &IGatherLayer::getMode, &IGatherLayer::setMode);
  layer<IOneHotLayer>(m, "IOneHotLayer").def_prop_rw("axis", &IOneHotLayer::getAxis, &IOneHotLayer::setAxis);
  layer<IResizeLayer>(m, "IResizeLayer")
      .def_prop_rw("shape", &IResizeLayer::getOutputDimensions, &IResizeLayer::setOutputDimensions)
      .def_prop_rw("scales", [](const IResizeLayer& self) {
                     std::vector<float> scales(static_cast<size_t>(std::max(0, self.getScales(0, nullptr))));
                     self.getScales(static_cast<int32_t>(scales.size()), scales.data());
                     return scales;
                   }, [](IResizeLayer& self, const std::vector<float>& scales) { self.setScales(scales.data(), static_cast<int32_t>(scales.size())); })
      .def_prop_rw("resize_mode", &IResizeLayer::getResizeMode, &IResizeLayer::setResizeMode)
      .def_prop_rw("coordinate_transformation", &IResizeLayer::getCoordinateTransformation, &IResizeLayer::setCoordinateTransformation)
      .def_prop_rw("selector_for_single_pixel", &IResizeLayer::getSelectorForSinglePixel, &IResizeLayer::setSelectorForSinglePixel)
      .def_prop_rw("nearest_rounding", &IResizeLayer::getNearestRounding, &IResizeLayer::setNearestRounding)
      .def_prop_rw("exclude_outside", &IResizeLayer::getExcludeOutside, &IResizeLayer::setExcludeOutside)
      .def_prop_rw("cubic_coeff", &IResizeLayer::getCubicCoeff, &IResizeLayer::setCubicCoeff);
}

}  // namespace

void bindLayers(nb::module_& m) {
  bindBases(m);
  bindCompute(m);
  bindData(m);
}

}  // namespace camshaft::python
