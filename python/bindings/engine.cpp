// Engines and their inspector.
#include "bindings.h"

namespace camshaft::python {

using namespace nvinfer1;

namespace {

using Engine = ICudaEngine;
using Class = nb::class_<Engine>;

// A question about a tensor's layout, for the first profile or a given one.
template <class R>
void bindLayout(Class& c, const char* name, R (Engine::*first)(const char*) const noexcept,
                R (Engine::*ofProfile)(const char*, int32_t) const noexcept) {
  c.def(name, raising(first), "name"_a).def(name, raising(ofProfile), "name"_a, "profile_index"_a);
}

void bindLayouts(Class& c) {
  bindLayout<int32_t>(c, "get_tensor_bytes_per_component", &Engine::getTensorBytesPerComponent,
                      &Engine::getTensorBytesPerComponent);
  bindLayout<int32_t>(c, "get_tensor_components_per_element",
                      &Engine::getTensorComponentsPerElement,
                      &Engine::getTensorComponentsPerElement);
  bindLayout<TensorFormat>(c, "get_tensor_format", &Engine::getTensorFormat,
                           &Engine::getTensorFormat);
  bindLayout<const char*>(c, "get_tensor_format_desc", &Engine::getTensorFormatDesc,
                          &Engine::getTensorFormatDesc);
  bindLayout<int32_t>(c, "get_tensor_vectorized_dim", &Engine::getTensorVectorizedDim,
                      &Engine::getTensorVectorizedDim);
}

// The values of a shape input that a profile has, for min, opt and max; none for other inputs.
nb::list profileValues(const Engine& self, const char* name, int32_t profile) {
  nb::list all;
  const Dims shape = raising(&Engine::getTensorShape)(self, name);
  int64_t count = 1;
  for (int32_t i = 0; i < shape.nbDims; ++i) count *= shape.d[i];
  for (auto select :
       {OptProfileSelector::kMIN, OptProfileSelector::kOPT, OptProfileSelector::kMAX}) {
    const int64_t* values = raising(&Engine::getProfileTensorValuesV2)(self, name, profile, select);
    if (!values || count < 0) return nb::list();
    nb::list list;
    for (int64_t i = 0; i < count; ++i) list.append(values[i]);
    all.append(list);
  }
  return all;
}

void bindSerialization(nb::module_& m, Class& c) {
  using Config = ISerializationConfig;
  nb::class_<Config>(m, "ISerializationConfig")
      .def_prop_rw("flags", &Config::getFlags, raising(&Config::setFlags))
      .def("set_flag", raising(&Config::setFlag), "flag"_a)
      .def("clear_flag", raising(&Config::clearFlag), "flag"_a)
      .def("get_flag", raising(&Config::getFlag), "flag"_a);
  c.def(
       "serialize",
       [](const Engine& self) { return checked("serialize", [&] { return self.serialize(); }); },
       nb::rv_policy::take_ownership)
      .def(
          "create_serialization_config",
          [](Engine& self) {
            return checked("create_serialization_config",
                           [&] { return self.createSerializationConfig(); });
          },
          nb::rv_policy::take_ownership, nb::keep_alive<0, 1>())
      .def(
          "serialize_with_config",
          [](const Engine& self, Config& config) {
            return checked("serialize_with_config",
                           [&] { return self.serializeWithConfig(config); });
          },
          "config"_a, nb::rv_policy::take_ownership);
}

void bindContextCreation(nb::module_& m, Class& c) {
  using Strategy = ExecutionContextAllocationStrategy;
  nb::class_<IRuntimeConfig>(m, "IRuntimeConfig")
      .def("set_execution_context_allocation_strategy",
           raising(&IRuntimeConfig::setExecutionContextAllocationStrategy), "strategy"_a)
      .def("get_execution_context_allocation_strategy",
           &IRuntimeConfig::getExecutionContextAllocationStrategy);
  c.def(
       "create_execution_context",
       [](Engine& self, Strategy strategy) {
         return checked("create_execution_context",
                        [&] { return self.createExecutionContext(strategy); });
       },
       "strategy"_a = Strategy::kSTATIC, nb::rv_policy::take_ownership, nb::keep_alive<0, 1>())
      .def(
          "create_execution_context",
          [](Engine& self, IRuntimeConfig& config) {
            return checked("create_execution_context",
                           [&] { return self.createExecutionContext(&config); });
          },
          "runtime_config"_a, nb::rv_policy::take_ownership, nb::keep_alive<0, 1>())
      .def(
          "create_execution_context_without_device_memory",
          [](Engine& self) {
            return checked("create_execution_context_without_device_memory",
                           [&] { return self.createExecutionContextWithoutDeviceMemory(); });
          },
          nb::rv_policy::take_ownership, nb::keep_alive<0, 1>())
      .def(
          "create_runtime_config",
          [](Engine& self) {
            return checked("create_runtime_config", [&] { return self.createRuntimeConfig(); });
          },
          nb::rv_policy::take_ownership, nb::keep_alive<0, 1>());
}

void bindWeightStreaming(Class& c) {
  c.def_prop_ro("streamable_weights_size", &Engine::getStreamableWeightsSize)
      .def_prop_rw("weight_streaming_budget", &Engine::getWeightStreamingBudget,
                   raising(&Engine::setWeightStreamingBudget))
      .def_prop_rw("weight_streaming_budget_v2", &Engine::getWeightStreamingBudgetV2,
                   raising(&Engine::setWeightStreamingBudgetV2))
      .def_prop_ro("minimum_weight_streaming_budget", &Engine::getMinimumWeightStreamingBudget)
      .def("get_weight_streaming_automatic_budget", &Engine::getWeightStreamingAutomaticBudget)
      .def_prop_ro("weight_streaming_scratch_memory_size",
                   &Engine::getWeightStreamingScratchMemorySize);
}

void bindInspector(nb::module_& m) {
  nb::class_<IEngineInspector>(m, "EngineInspector")
      .def_prop_rw("execution_context", &IEngineInspector::getExecutionContext,
                   raising(&IEngineInspector::setExecutionContext),
                   nb::for_setter(nb::keep_alive<1, 2>()), nb::for_setter(nb::arg().none()),
                   nb::for_getter(nb::rv_policy::reference))
      .def(
          "get_layer_information",
          [](const IEngineInspector& self, int32_t index, LayerInformationFormat format) {
            return textOf(checked("get_layer_information",
                                  [&] { return self.getLayerInformation(index, format); }));
          },
          "layer_index"_a, "format"_a)
      .def(
          "get_engine_information",
          [](const IEngineInspector& self, LayerInformationFormat format) {
            return textOf(checked("get_engine_information",
                                  [&] { return self.getEngineInformation(format); }));
          },
          "format"_a)
      .def_prop_rw("error_recorder", &IEngineInspector::getErrorRecorder,
                   &IEngineInspector::setErrorRecorder, nb::for_setter(nb::keep_alive<1, 2>()),
                   nb::for_setter(nb::arg().none()));
}

}  // namespace

void bindEngine(nb::module_& m) {
  Class c(m, "ICudaEngine");
  bindLifetime(c, "def __enter__(self) -> ICudaEngine");
  c.def_prop_ro("name", text(&Engine::getName))
      .def_prop_ro("num_layers", &Engine::getNbLayers)
      .def_prop_ro("num_io_tensors", &Engine::getNbIOTensors)
      .def_prop_ro("num_optimization_profiles", &Engine::getNbOptimizationProfiles)
      .def_prop_ro("device_memory_size", &Engine::getDeviceMemorySize)
      .def_prop_ro("device_memory_size_v2", &Engine::getDeviceMemorySizeV2)
      .def_prop_ro("device", &Engine::getDevice, nb::rv_policy::reference_internal,
                   nb::sig("def device(self) -> IDevice | None"))
      .def_prop_ro("profiling_verbosity", &Engine::getProfilingVerbosity)
      .def_prop_ro("has_implicit_batch_dimension", &Engine::hasImplicitBatchDimension)
      .def("get_device_memory_size_for_profile", &Engine::getDeviceMemorySizeForProfile,
           "profile_index"_a)
      .def("get_device_memory_size_for_profile_v2", &Engine::getDeviceMemorySizeForProfileV2,
           "profile_index"_a)
      .def(
          "get_tensor_name",
          [](Engine& self, int32_t index) {
            return textOf(checked("get_tensor_name", [&] { return self.getIOTensorName(index); }));
          },
          "index"_a)
      .def("get_tensor_mode", &Engine::getTensorIOMode, "name"_a)
      .def("get_tensor_shape", raising(&Engine::getTensorShape), "name"_a)
      .def("get_tensor_dtype", raising(&Engine::getTensorDataType), "name"_a)
      .def("get_tensor_location", raising(&Engine::getTensorLocation), "name"_a)
      .def("is_shape_inference_io", raising(&Engine::isShapeInferenceIO), "name"_a)
      .def(
          "get_tensor_profile_shape",
          [](const Engine& self, const char* name, int32_t profile) {
            nb::list shapes;
            for (auto select :
                 {OptProfileSelector::kMIN, OptProfileSelector::kOPT, OptProfileSelector::kMAX})
              shapes.append(raising(&Engine::getProfileShape)(self, name, profile, select));
            return shapes;
          },
          "name"_a, "profile_index"_a)
      .def("get_tensor_profile_values", &profileValues, "name"_a, "profile_index"_a)
      .def("get_tensor_profile_values",  // positions as TensorRT has them
           [](const Engine& self, int32_t profile, const char* name) {
             return profileValues(self, name, profile);
           })
      .def("get_aliased_input_tensor", text(&Engine::getAliasedInputTensor), "name"_a)
      .def("is_debug_tensor", raising(&Engine::isDebugTensor), "name"_a)
      .def("get_engine_stat", raising(&Engine::getEngineStat), "stat"_a)
      .def_prop_ro("refittable", &Engine::isRefittable)
      .def_prop_ro("engine_capability", &Engine::getEngineCapability)
      .def_prop_ro("tactic_sources", &Engine::getTacticSources)
      .def_prop_ro("hardware_compatibility_level", &Engine::getHardwareCompatibilityLevel)
      .def_prop_ro("num_aux_streams", &Engine::getNbAuxStreams)
      .def(
          "create_engine_inspector",
          [](const Engine& self) {
            return checked("create_engine_inspector", [&] { return self.createEngineInspector(); });
          },
          nb::rv_policy::take_ownership, nb::keep_alive<0, 1>())
      .def_prop_rw("error_recorder", &Engine::getErrorRecorder, &Engine::setErrorRecorder,
                   nb::for_setter(nb::keep_alive<1, 2>()), nb::for_setter(nb::arg().none()));
  bindLayouts(c);
  bindSerialization(m, c);
  bindContextCreation(m, c);
  bindWeightStreaming(c);
  bindInspector(m);
}

}  // namespace camshaft::python
