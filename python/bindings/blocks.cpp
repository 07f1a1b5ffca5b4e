// Blocks of layers, conditionals, loops and attention, and the other layers of language models.
#include "bindings.h"

namespace camshaft::python {

using namespace nvinfer1;

namespace {

template <class L, class Base>
auto layer(nb::module_& m, const char* name) {
  return nb::class_<L, Base>(m, name);
}

void bindConditionals(nb::module_& m) {
  nb::class_<IIfConditional> c(m, "IIfConditional");
  c.def_prop_rw("name", text(&IIfConditional::getName), raising(&IIfConditional::setName));
  layer<IIfConditionalBoundaryLayer, ILayer>(m, "IIfConditionalBoundaryLayer")
      .def_prop_ro("conditional", &IIfConditionalBoundaryLayer::getConditional,
                   nb::rv_policy::reference_internal);
  layer<IConditionLayer, IIfConditionalBoundaryLayer>(m, "IConditionLayer");
  layer<IIfConditionalInputLayer, IIfConditionalBoundaryLayer>(m, "IIfConditionalInputLayer");
  layer<IIfConditionalOutputLayer, IIfConditionalBoundaryLayer>(m, "IIfConditionalOutputLayer");
  add(
      c, "set_condition",
      [](IIfConditional& self, ITensor& condition) {
        return checked("set_condition", [&] { return self.setCondition(condition); });
      },
      "condition"_a);
  add(
      c, "add_output",
      [](IIfConditional& self, ITensor& whenTrue, ITensor& whenFalse) {
        return checked("add_output", [&] { return self.addOutput(whenTrue, whenFalse); });
      },
      "true_subgraph_output"_a, "false_subgraph_output"_a);
  add(
      c, "add_input",
      [](IIfConditional& self, ITensor& input) {
        return checked("add_input", [&] { return self.addInput(input); });
      },
      "input"_a);
}

void bindLoops(nb::module_& m) {
  nb::class_<ILoop> c(m, "ILoop");
  c.def_prop_rw("name", text(&ILoop::getName), raising(&ILoop::setName));
  layer<ILoopBoundaryLayer, ILayer>(m, "ILoopBoundaryLayer")
      .def_prop_ro("loop", &ILoopBoundaryLayer::getLoop, nb::rv_policy::reference_internal);
  layer<IRecurrenceLayer, ILoopBoundaryLayer>(m, "IRecurrenceLayer");
  layer<ITripLimitLayer, ILoopBoundaryLayer>(m, "ITripLimitLayer")
      .def_prop_ro("kind", &ITripLimitLayer::getTripLimit);
  layer<IIteratorLayer, ILoopBoundaryLayer>(m, "IIteratorLayer")
      .def_prop_rw("axis", &IIteratorLayer::getAxis, raising(&IIteratorLayer::setAxis))
      .def_prop_rw("reverse", &IIteratorLayer::getReverse, raising(&IIteratorLayer::setReverse));
  layer<ILoopOutputLayer, ILoopBoundaryLayer>(m, "ILoopOutputLayer")
      .def_prop_rw("axis", &ILoopOutputLayer::getAxis, raising(&ILoopOutputLayer::setAxis))
      .def_prop_ro("kind", &ILoopOutputLayer::getLoopOutput);
  add(
      c, "add_recurrence",
      [](ILoop& self, ITensor& initial) {
        return checked("add_recurrence", [&] { return self.addRecurrence(initial); });
      },
      "initial_value"_a);
  add(
      c, "add_trip_limit",
      [](ILoop& self, ITensor& tensor, TripLimit kind) {
        return checked("add_trip_limit", [&] { return self.addTripLimit(tensor, kind); });
      },
      "tensor"_a, "kind"_a);
  add(
      c, "add_iterator",
      [](ILoop& self, ITensor& tensor, int32_t axis, bool reverse) {
        return checked("add_iterator", [&] { return self.addIterator(tensor, axis, reverse); });
      },
      "tensor"_a, "axis"_a = 0, "reverse"_a = false);
  add(
      c, "add_loop_output",
      [](ILoop& self, ITensor& tensor, LoopOutput kind, int32_t axis) {
        return checked("add_loop_output", [&] { return self.addLoopOutput(tensor, kind, axis); });
      },
      "tensor"_a, "kind"_a, "axis"_a = 0);
}

void bindAttention(nb::module_& m) {
  using A = IAttention;
  nb::class_<A>(m, "IAttention")
      .def_prop_rw(
          "mask", [](A& self) { return self.getMask(); }, raising(&A::setMask),
          nb::rv_policy::reference_internal)
      .def_prop_rw("norm_op", &A::getNormalizationOperation, raising(&A::setNormalizationOperation))
      .def_prop_rw("decomposable", &A::getDecomposable, raising(&A::setDecomposable))
      .def_prop_rw("causal", &A::getCausal, raising(&A::setCausal))
      .def_prop_rw("causal_kind", &A::getCausalKind, raising(&A::setCausalKind))
      .def_prop_rw("name", text(&A::getName), raising(&A::setName))
      .def_prop_rw("metadata", text(&A::getMetadata), raising(&A::setMetadata))
      .def_prop_rw("normalization_quantize_scale", &A::getNormalizationQuantizeScale,
                   raising(&A::setNormalizationQuantizeScale), nb::rv_policy::reference_internal)
      .def_prop_rw("normalization_quantize_to_type", &A::getNormalizationQuantizeToType,
                   raising(&A::setNormalizationQuantizeToType))
      .def_prop_rw("query_form", &A::getQueryForm, raising(&A::setQueryForm))
      .def_prop_rw("key_value_form", &A::getKeyValueForm, raising(&A::setKeyValueForm))
      .def_prop_rw("query_lengths", &A::getQueryLengths, raising(&A::setQueryLengths),
                   nb::rv_policy::reference_internal, nb::for_setter(nb::arg().none()))
      .def_prop_rw("key_value_lengths", &A::getKeyValueLengths, raising(&A::setKeyValueLengths),
                   nb::rv_policy::reference_internal, nb::for_setter(nb::arg().none()))
      .def_prop_ro("num_inputs", &A::getNbInputs)
      .def_prop_ro("num_outputs", &A::getNbOutputs)
      .def_prop_rw("num_ranks", &A::getNbRanks, raising(&A::setNbRanks))
      .def("set_input", raising(&A::setInput), "index"_a, "tensor"_a)
      .def("get_input", &A::getInput, "index"_a, nb::rv_policy::reference_internal)
      .def("get_output", &A::getOutput, "index"_a, nb::rv_policy::reference_internal);
  layer<IAttentionBoundaryLayer, ILayer>(m, "IAttentionBoundaryLayer")
      .def_prop_ro("attention", &IAttentionBoundaryLayer::getAttention,
                   nb::rv_policy::reference_internal);
  layer<IAttentionInputLayer, IAttentionBoundaryLayer>(m, "IAttentionInputLayer");
  layer<IAttentionOutputLayer, IAttentionBoundaryLayer>(m, "IAttentionOutputLayer");
}

void bindTransformers(nb::module_& m) {
  using Rotary = IRotaryEmbeddingLayer;
  layer<Rotary, ILayer>(m, "IRotaryEmbeddingLayer")
      .def_prop_rw("interleaved", &Rotary::getInterleaved, raising(&Rotary::setInterleaved))
      .def_prop_rw("rotary_embedding_dim", &Rotary::getRotaryEmbeddingDim,
                   raising(&Rotary::setRotaryEmbeddingDim));
  using Cache = IKVCacheUpdateLayer;
  layer<Cache, ILayer>(m, "IKVCacheUpdateLayer")
      .def_prop_rw("cache_mode", &Cache::getCacheMode, raising(&Cache::setCacheMode))
      .def_prop_rw("update_form", &Cache::getUpdateForm, raising(&Cache::setUpdateForm))
      .def_prop_rw("update_lengths", &Cache::getUpdateLengths, raising(&Cache::setUpdateLengths),
                   nb::rv_policy::reference_internal, nb::for_setter(nb::arg().none()));
  using MoE = IMoELayer;
  layer<MoE, ILayer>(m, "IMoELayer")
      .def("set_gated_weights", raising(&MoE::setGatedWeights), "fc_gate_weights"_a,
           "fc_up_weights"_a, "fc_down_weights"_a, "activation_type"_a)
      .def("set_gated_biases", raising(&MoE::setGatedBiases), "fc_gate_biases"_a, "fc_up_biases"_a,
           "fc_down_biases"_a)
      .def_prop_rw("activation_type", &MoE::getActivationType, raising(&MoE::setActivationType))
      .def("set_quantization_static", raising(&MoE::setQuantizationStatic),
           "fc_down_activation_scale"_a, "data_type"_a)
      .def("set_quantization_dynamic_dbl_q", raising(&MoE::setQuantizationDynamicDblQ),
           "fc_down_activation_dbl_q_scale"_a, "data_type"_a, "block_shape"_a,
           "dyn_q_output_scale_type"_a)
      .def_prop_rw("quantization_to_type", &MoE::getQuantizationToType,
                   raising(&MoE::setQuantizationToType))
      .def_prop_rw("quantization_block_shape", &MoE::getQuantizationBlockShape,
                   raising(&MoE::setQuantizationBlockShape))
      .def_prop_rw("dyn_q_output_scale_type", &MoE::getDynQOutputScaleType,
                   raising(&MoE::setDynQOutputScaleType))
      .def("set_swiglu_params", raising(&MoE::setSwigluParams), "limit"_a, "alpha"_a, "beta"_a)
      .def_prop_rw("swiglu_param_limit", &MoE::getSwigluParamLimit,
                   raising(&MoE::setSwigluParamLimit))
      .def_prop_rw("swiglu_param_alpha", &MoE::getSwigluParamAlpha,
                   raising(&MoE::setSwigluParamAlpha))
      .def_prop_rw("swiglu_param_beta", &MoE::getSwigluParamBeta,
                   raising(&MoE::setSwigluParamBeta));
  layer<IDistCollectiveLayer, ILayer>(m, "IDistCollectiveLayer");
}

}  // namespace

void bindBlocks(nb::module_& m) {
  bindConditionals(m);
  bindLoops(m);
  bindAttention(m);
  bindTransformers(m);
}

}  // namespace camshaft::python
