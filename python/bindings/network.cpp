// INetworkDefinition. Every add_* raises with the reason instead of returning None.
#include "layer_class.h"

namespace camshaft::python {

using namespace nvinfer1;

namespace {

ListedLayer layerAt(nb::handle_t<INetworkDefinition> self, int32_t index) {
  auto& network = nb::cast<INetworkDefinition&>(self);
  const int32_t count = network.getNbLayers();
  if (index < 0) index += count;
  if (index < 0 || index >= count) throw nb::index_error();
  return listedLayer(network.getLayer(index), self);
}

using Net = INetworkDefinition;

// What a build is to keep apart: debug tensors and weights that are refitted.
void bindMarks(nb::class_<INetworkDefinition>& c) {
  c.def("mark_debug", raising(&Net::markDebug), "tensor"_a)
      .def("unmark_debug", raising(&Net::unmarkDebug), "tensor"_a)
      .def("is_debug_tensor", raising(&Net::isDebugTensor), "tensor"_a)
      .def("mark_unfused_tensors_as_debug_tensors", raising(&Net::markUnfusedTensorsAsDebugTensors))
      .def("unmark_unfused_tensors_as_debug_tensors",
           raising(&Net::unmarkUnfusedTensorsAsDebugTensors))
      .def("mark_weights_refittable", raising(&Net::markWeightsRefittable), "name"_a)
      .def("unmark_weights_refittable", raising(&Net::unmarkWeightsRefittable), "name"_a)
      .def("are_weights_marked_refittable", raising(&Net::areWeightsMarkedRefittable), "name"_a)
      .def(
          "set_weights_name",
          [](Net& self, nb::handle weights, const char* name) {
            const PyWeights named = weightsFrom(weights);
            return raising(&Net::setWeightsName)(self, named.weights, name);
          },
          "weights"_a, "name"_a);
}

void bindTransformerAdders(nb::class_<INetworkDefinition>& c) {
  add(
      c, "add_attention",
      [](Net& n, ITensor& query, ITensor& key, ITensor& value, AttentionNormalizationOp op,
         bool causal) {
        return checked("add_attention",
                       [&] { return n.addAttention(query, key, value, op, causal); });
      },
      "query"_a, "key"_a, "value"_a, "norm_op"_a, "causal"_a);
  add(
      c, "add_attention_v2",
      [](Net& n, ITensor& query, ITensor& key, ITensor& value, AttentionNormalizationOp op,
         CausalMaskKind causal) {
        return checked("add_attention_v2",
                       [&] { return n.addAttentionV2(query, key, value, op, causal); });
      },
      "query"_a, "key"_a, "value"_a, "norm_op"_a, "causal_kind"_a);
  add(
      c, "add_rotary_embedding",
      [](Net& n, ITensor& input, ITensor& cosines, ITensor& sines, bool interleaved, int32_t size) {
        return checked("add_rotary_embedding", [&] {
          return n.addRotaryEmbedding(input, cosines, sines, interleaved, size);
        });
      },
      "input"_a, "cos_cache"_a, "sin_cache"_a, "interleaved"_a, "rotary_embedding_dim"_a);
  add(
      c, "add_kv_cache_update",
      [](Net& n, ITensor& cache, ITensor& update, ITensor& indices, KVCacheMode mode) {
        return checked("add_kv_cache_update",
                       [&] { return n.addKVCacheUpdate(cache, update, indices, mode); });
      },
      "cache"_a, "update"_a, "write_indices"_a, "cache_mode"_a);
  add(
      c, "add_moe",
      [](Net& n, ITensor& hidden, ITensor& experts, ITensor& scores) {
        return checked("add_moe", [&] { return n.addMoE(hidden, experts, scores); });
      },
      "hidden_states"_a, "selected_experts_for_tokens"_a, "scores_for_selected_experts"_a);
  add(
      c, "add_dist_collective",
      [](Net& n, ITensor& input, CollectiveOperation op, ReduceOperation reduction, int64_t root,
         std::optional<std::vector<int64_t>> ranks) {
        std::vector<int64_t> groups = std::move(ranks).value_or(std::vector<int64_t>());
        return checked("add_dist_collective", [&] {
          return n.addDistCollective(input, op, reduction, root, groups.data(),
                                     static_cast<int64_t>(groups.size()));
        });
      },
      "input"_a, "dist_collective_op"_a, "reduce_op"_a, "root"_a, "groups"_a.none() = nb::none());
}

void bindAdders(nb::class_<INetworkDefinition>& c) {
  add(
      c, "add_convolution_nd",
      [](Net& n, ITensor& input, int64_t maps, const Dims& size, nb::handle kernel,
         nb::handle bias) {
        const PyWeights k = weightsFrom(kernel), b = weightsFrom(bias);
        return checked("add_convolution_nd",
                       [&] { return n.addConvolutionNd(input, maps, size, k.weights, b.weights); });
      },
      "input"_a, "num_output_maps"_a, "kernel_shape"_a, "kernel"_a, "bias"_a = nb::none());
  add(
      c, "add_deconvolution_nd",
      [](Net& n, ITensor& input, int64_t maps, const Dims& size, nb::handle kernel,
         nb::handle bias) {
        const PyWeights k = weightsFrom(kernel), b = weightsFrom(bias);
        return checked("add_deconvolution_nd", [&] {
          return n.addDeconvolutionNd(input, maps, size, k.weights, b.weights);
        });
      },
      "input"_a, "num_output_maps"_a, "kernel_shape"_a, "kernel"_a, "bias"_a = nb::none());
  add(
      c, "add_pooling_nd",
      [](Net& n, ITensor& input, PoolingType type, const Dims& size) {
        return checked("add_pooling_nd", [&] { return n.addPoolingNd(input, type, size); });
      },
      "input"_a, "type"_a, "window_size"_a);
  add(
      c, "add_activation",
      [](Net& n, ITensor& input, ActivationType type) {
        return checked("add_activation", [&] { return n.addActivation(input, type); });
      },
      "input"_a, "type"_a);
  add(
      c, "add_parametric_relu",
      [](Net& n, ITensor& input, ITensor& slopes) {
        return checked("add_parametric_relu", [&] { return n.addParametricReLU(input, slopes); });
      },
      "input"_a, "slopes"_a);
  add(
      c, "add_scale",
      [](Net& n, ITensor& input, ScaleMode mode, nb::handle shift, nb::handle scale,
         nb::handle power) {
        const PyWeights s = weightsFrom(shift), f = weightsFrom(scale), p = weightsFrom(power);
        return checked("add_scale",
                       [&] { return n.addScale(input, mode, s.weights, f.weights, p.weights); });
      },
      "input"_a, "mode"_a, "shift"_a = nb::none(), "scale"_a = nb::none(), "power"_a = nb::none());
  add(
      c, "add_scale_nd",
      [](Net& n, ITensor& input, ScaleMode mode, nb::handle shift, nb::handle scale,
         nb::handle power, int32_t axis) {
        const PyWeights s = weightsFrom(shift), f = weightsFrom(scale), p = weightsFrom(power);
        return checked("add_scale_nd", [&] {
          return n.addScaleNd(input, mode, s.weights, f.weights, p.weights, axis);
        });
      },
      "input"_a, "mode"_a, "shift"_a = nb::none(), "scale"_a = nb::none(), "power"_a = nb::none(),
      "channel_axis"_a,
      nb::sig("def add_scale_nd(self, input: ITensor, mode: ScaleMode, shift: object = None, "
              "scale: object = None, power: object = None, channel_axis: int = ...) "
              "-> IScaleLayer"));
  add(
      c, "add_elementwise",
      [](Net& n, ITensor& a, ITensor& b, ElementWiseOperation op) {
        return checked("add_elementwise", [&] { return n.addElementWise(a, b, op); });
      },
      "input1"_a, "input2"_a, "op"_a);
  add(
      c, "add_unary",
      [](Net& n, ITensor& input, UnaryOperation op) {
        return checked("add_unary", [&] { return n.addUnary(input, op); });
      },
      "input"_a, "op"_a);
  add(
      c, "add_select",
      [](Net& n, ITensor& condition, ITensor& a, ITensor& b) {
        return checked("add_select", [&] { return n.addSelect(condition, a, b); });
      },
      "condition"_a, "then_input"_a, "else_input"_a);
  add(
      c, "add_cast",
      [](Net& n, ITensor& input, DataType type) {
        return checked("add_cast", [&] { return n.addCast(input, type); });
      },
      "input"_a, "to_type"_a);
  add(
      c, "add_quantize",
      [](Net& n, ITensor& input, ITensor& scale, DataType type) {
        return checked("add_quantize", [&] { return n.addQuantize(input, scale, type); });
      },
      "input"_a, "scale"_a, "output_type"_a = DataType::kINT8);
  add(
      c, "add_dequantize",
      [](Net& n, ITensor& input, ITensor& scale, DataType type) {
        return checked("add_dequantize", [&] { return n.addDequantize(input, scale, type); });
      },
      "input"_a, "scale"_a, "output_type"_a = DataType::kFLOAT);
  add(
      c, "add_dynamic_quantize",
      [](Net& n, ITensor& input, int32_t axis, int32_t size, DataType type, DataType scaleType) {
        return checked("add_dynamic_quantize",
                       [&] { return n.addDynamicQuantize(input, axis, size, type, scaleType); });
      },
      "input"_a, "axis"_a, "block_size"_a, "output_type"_a, "scale_type"_a);
  add(
      c, "add_dynamic_quantize_v2",
      [](Net& n, ITensor& input, const Dims& block, DataType type, DataType scaleType) {
        return checked("add_dynamic_quantize_v2",
                       [&] { return n.addDynamicQuantizeV2(input, block, type, scaleType); });
      },
      "input"_a, "block_shape"_a, "output_type"_a, "scale_type"_a);
  add(
      c, "add_softmax",
      [](Net& n, ITensor& input) {
        return checked("add_softmax", [&] { return n.addSoftMax(input); });
      },
      "input"_a);
  add(
      c, "add_ragged_softmax",
      [](Net& n, ITensor& input, ITensor& bounds) {
        return checked("add_ragged_softmax", [&] { return n.addRaggedSoftMax(input, bounds); });
      },
      "input"_a, "bounds"_a);
  add(
      c, "add_normalization",
      [](Net& n, ITensor& input, ITensor& scale, ITensor& bias, uint32_t axes) {
        return checked("add_normalization",
                       [&] { return n.addNormalization(input, scale, bias, axes); });
      },
      "input"_a, "scale"_a, "bias"_a, "axesMask"_a);
  add(
      c, "add_normalization_v2",
      [](Net& n, ITensor& input, ITensor& scale, ITensor& bias, uint32_t axes) {
        return checked("add_normalization_v2",
                       [&] { return n.addNormalizationV2(input, scale, bias, axes); });
      },
      "input"_a, "scale"_a, "bias"_a, "axesMask"_a);
  add(
      c, "add_lrn",
      [](Net& n, ITensor& input, int64_t window, float alpha, float beta, float k) {
        return checked("add_lrn", [&] { return n.addLRN(input, window, alpha, beta, k); });
      },
      "input"_a, "window"_a, "alpha"_a, "beta"_a, "k"_a);
  add(
      c, "add_reduce",
      [](Net& n, ITensor& input, ReduceOperation op, uint32_t axes, bool keep) {
        return checked("add_reduce", [&] { return n.addReduce(input, op, axes, keep); });
      },
      "input"_a, "op"_a, "axes"_a, "keep_dims"_a);
  add(
      c, "add_topk",
      [](Net& n, ITensor& input, TopKOperation op, int32_t k, uint32_t axes) {
        return checked("add_topk", [&] { return n.addTopK(input, op, k, axes); });
      },
      "input"_a, "op"_a, "k"_a, "axes"_a);
  add(
      c, "add_topk",
      [](Net& n, ITensor& input, TopKOperation op, int32_t k, uint32_t axes, DataType type) {
        return checked("add_topk", [&] { return n.addTopK(input, op, k, axes, type); });
      },
      "input"_a, "op"_a, "k"_a, "axes"_a, "indices_type"_a);
  add(
      c, "add_cumulative",
      [](Net& n, ITensor& input, ITensor& axis, CumulativeOperation op, bool exclusive,
         bool reverse) {
        return checked("add_cumulative",
                       [&] { return n.addCumulative(input, axis, op, exclusive, reverse); });
      },
      "input"_a, "axis"_a, "op"_a, "exclusive"_a, "reverse"_a);
  add(
      c, "add_matrix_multiply",
      [](Net& n, ITensor& a, MatrixOperation opA, ITensor& b, MatrixOperation opB) {
        return checked("add_matrix_multiply", [&] { return n.addMatrixMultiply(a, opA, b, opB); });
      },
      "input0"_a, "op0"_a, "input1"_a, "op1"_a);
  add(
      c, "add_einsum",
      [](Net& n, const std::vector<ITensor*>& inputs, const char* equation) {
        return checked("add_einsum", [&] {
          return n.addEinsum(inputs.data(), static_cast<int32_t>(inputs.size()), equation);
        });
      },
      "inputs"_a, "equation"_a);
  add(
      c, "add_constant",
      [](Net& n, const Dims& shape, nb::handle weights) {
        const PyWeights w = weightsFrom(weights);
        return checked("add_constant", [&] { return n.addConstant(shape, w.weights); });
      },
      "shape"_a, "weights"_a);
  add(
      c, "add_assertion",
      [](Net& n, ITensor& condition, const char* message) {
        return checked("add_assertion", [&] { return n.addAssertion(condition, message); });
      },
      "condition"_a, "message"_a);
  add(
      c, "add_fill",
      [](Net& n, const Dims& shape, FillOperation op, DataType type) {
        return checked("add_fill", [&] { return n.addFill(shape, op, type); });
      },
      "shape"_a, "op"_a, "output_type"_a = DataType::kFLOAT);
  add(
      c, "add_identity",
      [](Net& n, ITensor& input) {
        return checked("add_identity", [&] { return n.addIdentity(input); });
      },
      "input"_a);
  add(
      c, "add_shape",
      [](Net& n, ITensor& input) {
        return checked("add_shape", [&] { return n.addShape(input); });
      },
      "input"_a);
  add(
      c, "add_concatenation",
      [](Net& n, const std::vector<ITensor*>& inputs) {
        return checked("add_concatenation", [&] {
          return n.addConcatenation(inputs.data(), static_cast<int32_t>(inputs.size()));
        });
      },
      "inputs"_a);
  add(
      c, "add_shuffle",
      [](Net& n, ITensor& input) {
        return checked("add_shuffle", [&] { return n.addShuffle(input); });
      },
      "input"_a);
  add(
      c, "add_squeeze",
      [](Net& n, ITensor& input, ITensor& axes) {
        return checked("add_squeeze", [&] { return n.addSqueeze(input, axes); });
      },
      "input"_a, "axes"_a);
  add(
      c, "add_unsqueeze",
      [](Net& n, ITensor& input, ITensor& axes) {
        return checked("add_unsqueeze", [&] { return n.addUnsqueeze(input, axes); });
      },
      "input"_a, "axes"_a);
  add(
      c, "add_slice",
      [](Net& n, ITensor& input, const Dims& start, const Dims& shape, const Dims& stride) {
        return checked("add_slice", [&] { return n.addSlice(input, start, shape, stride); });
      },
      "input"_a, "start"_a, "shape"_a, "stride"_a);
  add(
      c, "add_padding_nd",
      [](Net& n, ITensor& input, const Dims& before, const Dims& after) {
        return checked("add_padding_nd", [&] { return n.addPaddingNd(input, before, after); });
      },
      "input"_a, "pre_padding"_a, "post_padding"_a);
  add(
      c, "add_gather",
      [](Net& n, ITensor& data, ITensor& indices, int32_t axis) {
        return checked("add_gather", [&] { return n.addGather(data, indices, axis); });
      },
      "input"_a, "indices"_a, "axis"_a);
  add(
      c, "add_gather_v2",
      [](Net& n, ITensor& data, ITensor& indices, GatherMode mode) {
        return checked("add_gather_v2", [&] { return n.addGatherV2(data, indices, mode); });
      },
      "input"_a, "indices"_a, "mode"_a);
  add(
      c, "add_scatter",
      [](Net& n, ITensor& data, ITensor& indices, ITensor& updates, ScatterMode mode) {
        return checked("add_scatter", [&] { return n.addScatter(data, indices, updates, mode); });
      },
      "data"_a, "indices"_a, "updates"_a, "mode"_a);
  add(
      c, "add_reverse_sequence",
      [](Net& n, ITensor& input, ITensor& lengths) {
        return checked("add_reverse_sequence",
                       [&] { return n.addReverseSequence(input, lengths); });
      },
      "input"_a, "sequence_lens"_a);
  add(
      c, "add_non_zero",
      [](Net& n, ITensor& input, DataType type) {
        return checked("add_non_zero", [&] { return n.addNonZero(input, type); });
      },
      "input"_a, "indices_type"_a = DataType::kINT32);
  add(
      c, "add_nms",
      [](Net& n, ITensor& boxes, ITensor& scores, ITensor& most, DataType type) {
        return checked("add_nms", [&] { return n.addNMS(boxes, scores, most, type); });
      },
      "boxes"_a, "scores"_a, "max_output_boxes_per_class"_a, "indices_type"_a = DataType::kINT32);
  add(
      c, "add_one_hot",
      [](Net& n, ITensor& indices, ITensor& values, ITensor& depth, int32_t axis) {
        return checked("add_one_hot", [&] { return n.addOneHot(indices, values, depth, axis); });
      },
      "indices"_a, "values"_a, "depth"_a, "axis"_a);
  add(
      c, "add_resize",
      [](Net& n, ITensor& input) {
        return checked("add_resize", [&] { return n.addResize(input); });
      },
      "input"_a);
  add(
      c, "add_grid_sample",
      [](Net& n, ITensor& input, ITensor& grid) {
        return checked("add_grid_sample", [&] { return n.addGridSample(input, grid); });
      },
      "input"_a, "grid"_a);
  add(c, "add_if_conditional",
      [](Net& n) { return checked("add_if_conditional", [&] { return n.addIfConditional(); }); });
  add(c, "add_loop", [](Net& n) { return checked("add_loop", [&] { return n.addLoop(); }); });
  bindTransformerAdders(c);
}

}  // namespace

void bindNetwork(nb::module_& m) {
  nb::class_<INetworkDefinition> c(m, "INetworkDefinition", nb::dynamic_attr());
  bindLifetime(c, "def __enter__(self) -> INetworkDefinition");
  c.def_prop_rw("name", text(&Net::getName), raising(&Net::setName))
      .def_prop_ro("flags", &Net::getFlags)
      .def("get_flag", raising(&Net::getFlag), "flag"_a)
      .def_prop_ro("has_implicit_batch_dimension", &Net::hasImplicitBatchDimension)
      .def_prop_rw("error_recorder", &Net::getErrorRecorder, &Net::setErrorRecorder,
                   nb::for_setter(nb::keep_alive<1, 2>()), nb::for_setter(nb::arg().none()))
      .def_prop_ro("num_layers", &Net::getNbLayers)
      .def_prop_ro("num_inputs", &Net::getNbInputs)
      .def_prop_ro("num_outputs", &Net::getNbOutputs)
      .def("__len__", &Net::getNbLayers)
      .def("__getitem__", &layerAt)
      .def("get_layer", &layerAt, "index"_a)
      .def("get_input", &Net::getInput, "index"_a, nb::rv_policy::reference_internal)
      .def("get_output", &Net::getOutput, "index"_a, nb::rv_policy::reference_internal)
      .def("mark_output", raising(&Net::markOutput), "tensor"_a)
      .def("unmark_output", raising(&Net::unmarkOutput), "tensor"_a)
      .def("mark_output_for_shapes", raising(&Net::markOutputForShapes), "tensor"_a)
      .def("unmark_output_for_shapes", raising(&Net::unmarkOutputForShapes), "tensor"_a)
      .def("remove_tensor", raising(&Net::removeTensor), "tensor"_a)
      .def_prop_ro("builder", &Net::getBuilder, nb::rv_policy::reference);
  bindMarks(c);
  add(
      c, "add_input",
      [](Net& n, const char* name, DataType type, const Dims& shape) {
        return checked("add_input", [&] { return n.addInput(name, type, shape); });
      },
      "name"_a, "dtype"_a, "shape"_a);
  bindAdders(c);
}

}  // namespace camshaft::python
