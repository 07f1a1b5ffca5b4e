// Runtime, engine, execution context, inspector.
#include <nanobind/stl/tuple.h>

#include "bindings.h"

namespace camshaft::python {

using namespace nvinfer1;

namespace {

ICudaEngine* deserialize(IRuntime& runtime, nb::handle source) {
  Py_buffer view;
  if (PyObject_GetBuffer(source.ptr(), &view, PyBUF_SIMPLE) != 0) throw nb::python_error();
  forgetReason();
  ICudaEngine* engine = nullptr;
  {
    const Unlocked unlocked;
    engine = runtime.deserializeCudaEngine(view.buf, static_cast<size_t>(view.len));
  }
  PyBuffer_Release(&view);
  if (!engine) raiseReason("deserialize_cuda_engine");
  return engine;
}

bool run(bool (*call)(IExecutionContext&, void*), IExecutionContext& context, void* argument,
         const char* name) {
  forgetReason();
  bool ok = false;
  {
    const Unlocked unlocked;
    ok = call(context, argument);
  }
  if (!ok) raiseReason(name);
  return true;
}

void bindEngine(nb::module_& m) {
  nb::class_<ICudaEngine>(m, "ICudaEngine")
      .def_prop_ro("name", text(&ICudaEngine::getName))
      .def_prop_ro("num_layers", &ICudaEngine::getNbLayers)
      .def_prop_ro("num_io_tensors", &ICudaEngine::getNbIOTensors)
      .def_prop_ro("num_optimization_profiles", &ICudaEngine::getNbOptimizationProfiles)
      .def_prop_ro("device_memory_size", &ICudaEngine::getDeviceMemorySize)
      .def_prop_ro("device_memory_size_v2", &ICudaEngine::getDeviceMemorySizeV2)
      .def_prop_ro("device", &ICudaEngine::getDevice, nb::rv_policy::reference_internal,
                   nb::sig("def device(self) -> IDevice | None"))
      .def_prop_ro("profiling_verbosity", &ICudaEngine::getProfilingVerbosity)
      .def_prop_ro("has_implicit_batch_dimension", &ICudaEngine::hasImplicitBatchDimension)
      .def("get_device_memory_size_for_profile", &ICudaEngine::getDeviceMemorySizeForProfile,
           "profile_index"_a)
      .def("get_device_memory_size_for_profile_v2", &ICudaEngine::getDeviceMemorySizeForProfileV2,
           "profile_index"_a)
      .def("__getitem__",
           [](ICudaEngine& self, int32_t index) {
             return textOf(checked("engine[index]", [&] { return self.getIOTensorName(index); }));
           })
      .def(
          "get_tensor_name",
          [](ICudaEngine& self, int32_t index) {
            return textOf(checked("get_tensor_name", [&] { return self.getIOTensorName(index); }));
          },
          "index"_a)
      .def("get_tensor_mode", &ICudaEngine::getTensorIOMode, "name"_a)
      .def("get_tensor_shape", raising(&ICudaEngine::getTensorShape), "name"_a)
      .def("get_tensor_dtype", raising(&ICudaEngine::getTensorDataType), "name"_a)
      .def("get_tensor_location", raising(&ICudaEngine::getTensorLocation), "name"_a)
      .def("is_shape_inference_io", raising(&ICudaEngine::isShapeInferenceIO), "name"_a)
      .def("get_tensor_bytes_per_component",
           nb::overload_cast<const char*>(&ICudaEngine::getTensorBytesPerComponent, nb::const_),
           "name"_a)
      .def("get_tensor_bytes_per_component",
           nb::overload_cast<const char*, int32_t>(&ICudaEngine::getTensorBytesPerComponent,
                                                   nb::const_),
           "name"_a, "profile_index"_a)
      .def("get_tensor_components_per_element",
           nb::overload_cast<const char*>(&ICudaEngine::getTensorComponentsPerElement, nb::const_),
           "name"_a)
      .def("get_tensor_components_per_element",
           nb::overload_cast<const char*, int32_t>(&ICudaEngine::getTensorComponentsPerElement,
                                                   nb::const_),
           "name"_a, "profile_index"_a)
      .def("get_tensor_format",
           nb::overload_cast<const char*>(&ICudaEngine::getTensorFormat, nb::const_), "name"_a)
      .def("get_tensor_format",
           nb::overload_cast<const char*, int32_t>(&ICudaEngine::getTensorFormat, nb::const_),
           "name"_a, "profile_index"_a)
      .def("get_tensor_format_desc",
           nb::overload_cast<const char*>(&ICudaEngine::getTensorFormatDesc, nb::const_), "name"_a)
      .def("get_tensor_format_desc",
           nb::overload_cast<const char*, int32_t>(&ICudaEngine::getTensorFormatDesc, nb::const_),
           "name"_a, "profile_index"_a)
      .def("get_tensor_vectorized_dim",
           nb::overload_cast<const char*>(&ICudaEngine::getTensorVectorizedDim, nb::const_),
           "name"_a)
      .def(
          "get_tensor_vectorized_dim",
          nb::overload_cast<const char*, int32_t>(&ICudaEngine::getTensorVectorizedDim, nb::const_),
          "name"_a, "profile_index"_a)
      .def(
          "get_tensor_profile_shape",
          [](const ICudaEngine& self, const char* name, int32_t profile) {
            nb::list shapes;
            for (auto select :
                 {OptProfileSelector::kMIN, OptProfileSelector::kOPT, OptProfileSelector::kMAX})
              shapes.append(raising(&ICudaEngine::getProfileShape)(self, name, profile, select));
            return shapes;
          },
          "name"_a, "profile_index"_a)
      .def(
          "serialize",
          [](const ICudaEngine& self) {
            return checked("serialize", [&] { return self.serialize(); });
          },
          nb::rv_policy::take_ownership)
      .def(
          "create_execution_context",
          [](ICudaEngine& self, ExecutionContextAllocationStrategy strategy) {
            return checked("create_execution_context",
                           [&] { return self.createExecutionContext(strategy); });
          },
          "strategy"_a = ExecutionContextAllocationStrategy::kSTATIC, nb::rv_policy::take_ownership,
          nb::keep_alive<0, 1>())
      .def(
          "create_engine_inspector",
          [](const ICudaEngine& self) {
            return checked("create_engine_inspector", [&] { return self.createEngineInspector(); });
          },
          nb::rv_policy::take_ownership, nb::keep_alive<0, 1>())
      .def_prop_rw("error_recorder", &ICudaEngine::getErrorRecorder, &ICudaEngine::setErrorRecorder,
                   nb::for_setter(nb::keep_alive<1, 2>()), nb::for_setter(nb::arg().none()));
}

void bindContext(nb::module_& m) {
  nb::class_<IExecutionContext>(m, "IExecutionContext", nb::dynamic_attr())
      .def_prop_ro("engine", &IExecutionContext::getEngine, nb::rv_policy::reference_internal)
      .def_prop_rw("name", text(&IExecutionContext::getName), raising(&IExecutionContext::setName))
      .def_prop_rw("debug_sync", &IExecutionContext::getDebugSync, &IExecutionContext::setDebugSync)
      .def_prop_rw(
          "profiler", &IExecutionContext::getProfiler,
          [](nb::handle_t<IExecutionContext> self, IProfiler* profiler) {
            nb::cast<IExecutionContext&>(self).setProfiler(profiler);
            hold(self, "profiler", nb::find(profiler));
          },
          nb::for_setter(nb::arg().none()))
      .def_prop_rw("enqueue_emits_profile", &IExecutionContext::getEnqueueEmitsProfile,
                   &IExecutionContext::setEnqueueEmitsProfile)
      .def_prop_rw("error_recorder", &IExecutionContext::getErrorRecorder,
                   &IExecutionContext::setErrorRecorder, nb::for_setter(nb::keep_alive<1, 2>()),
                   nb::for_setter(nb::arg().none()))
      .def_prop_ro("active_optimization_profile", &IExecutionContext::getOptimizationProfile)
      .def_prop_ro("all_binding_shapes_specified", &IExecutionContext::allInputDimensionsSpecified)
      .def_prop_ro("all_shape_inputs_specified", &IExecutionContext::allInputShapesSpecified)
      .def(
          "set_optimization_profile_async",
          [](IExecutionContext& self, int32_t profile, uintptr_t stream) {
            return self.setOptimizationProfileAsync(profile,
                                                    reinterpret_cast<cudaStream_t>(stream));
          },
          "profile_index"_a, "stream_handle"_a = 0)
      .def("set_input_shape", &IExecutionContext::setInputShape, "name"_a, "shape"_a)
      .def("get_tensor_shape", raising(&IExecutionContext::getTensorShape), "name"_a)
      .def("get_tensor_strides", raising(&IExecutionContext::getTensorStrides), "name"_a)
      .def(
          "set_tensor_address",
          [](IExecutionContext& self, const char* name, uintptr_t memory) {
            return self.setTensorAddress(name, reinterpret_cast<void*>(memory));
          },
          "name"_a, "memory"_a)
      .def(
          "get_tensor_address",
          [](const IExecutionContext& self, const char* name) {
            return reinterpret_cast<uintptr_t>(self.getTensorAddress(name));
          },
          "name"_a)
      .def(
          "set_output_allocator",
          [](nb::handle_t<IExecutionContext> self, const char* name, IOutputAllocator* allocator) {
            const bool ok = nb::cast<IExecutionContext&>(self).setOutputAllocator(name, allocator);
            if (ok) hold(self, std::string("output_allocator_") + name, nb::find(allocator));
            return ok;
          },
          "name"_a, "output_allocator"_a.none())
      .def("get_output_allocator", raising(&IExecutionContext::getOutputAllocator), "name"_a,
           nb::rv_policy::reference)
      .def("get_max_output_size", raising(&IExecutionContext::getMaxOutputSize), "name"_a)
      .def(
          "set_device_memory",
          [](IExecutionContext& self, uintptr_t memory, int64_t size) {
            raising (&IExecutionContext::setDeviceMemoryV2)(self, reinterpret_cast<void*>(memory),
                                                            size);
          },
          "memory"_a, "size"_a)
      .def(
          "set_input_consumed_event",
          [](IExecutionContext& self, uintptr_t event) {
            return self.setInputConsumedEvent(reinterpret_cast<cudaEvent_t>(event));
          },
          "event"_a)
      .def("get_input_consumed_event",
           [](const IExecutionContext& self) {
             return reinterpret_cast<uintptr_t>(self.getInputConsumedEvent());
           })
      .def("infer_shapes",
           [](IExecutionContext& self) {
             std::vector<const char*> names(static_cast<size_t>(self.getEngine().getNbIOTensors()));
             forgetReason();
             const int32_t count =
                 self.inferShapes(static_cast<int32_t>(names.size()), names.data());
             if (count < 0) raiseReason("infer_shapes");
             names.resize(static_cast<size_t>(count));
             nb::list missing;
             for (const char* name : names) missing.append(textOf(name));
             return missing;
           })
      .def(
          "execute_async_v3",
          [](IExecutionContext& self, uintptr_t stream) {
            return run([](IExecutionContext& context,
                          void* s) { return context.enqueueV3(static_cast<cudaStream_t>(s)); },
                       self, reinterpret_cast<void*>(stream), "execute_async_v3");
          },
          "stream_handle"_a = 0)
      .def(
          "execute_v2",
          [](IExecutionContext& self, std::vector<uintptr_t> bindings) {
            const auto wanted = static_cast<size_t>(self.getEngine().getNbIOTensors());
            if (bindings.size() != wanted)
              throw nb::value_error(("execute_v2 needs " + std::to_string(wanted) +
                                     " addresses, one per input and output, not " +
                                     std::to_string(bindings.size()))
                                        .c_str());
            return run([](IExecutionContext& context,
                          void* b) { return context.executeV2(static_cast<void* const*>(b)); },
                       self, bindings.data(), "execute_v2");
          },
          "bindings"_a)
      .def("report_to_profiler", &IExecutionContext::reportToProfiler);
}

}  // namespace

void bindRuntime(nb::module_& m) {
  nb::class_<IRuntime>(m, "Runtime")
      // __new__ has the class as its first argument, so the logger is the second.
      .def(nb::new_([](ILogger& logger) {
             return checked("Runtime", [&] { return createInferRuntime(remembering(logger)); });
           }),
           "logger"_a, nb::keep_alive<0, 2>())
      .def("deserialize_cuda_engine", &deserialize, "serialized_engine"_a,
           nb::rv_policy::take_ownership, nb::keep_alive<0, 1>())
      .def(
          "deserialize_cuda_engine_from_file",
          [](IRuntime& self, nb::object path) {
            const std::string text = nb::cast<std::string>(nb::str(path));
            return checked("deserialize_cuda_engine_from_file", [&] {
              const Unlocked unlocked;
              return self.deserializeCudaEngineFromFile(text.c_str());
            });
          },
          "path"_a, nb::rv_policy::take_ownership, nb::keep_alive<0, 1>())
      .def_prop_rw("max_threads", &IRuntime::getMaxThreads, raising(&IRuntime::setMaxThreads))
      .def_prop_rw("error_recorder", &IRuntime::getErrorRecorder, &IRuntime::setErrorRecorder,
                   nb::for_setter(nb::keep_alive<1, 2>()), nb::for_setter(nb::arg().none()));
  bindEngine(m);
  bindContext(m);
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
          "format"_a);
}

}  // namespace camshaft::python
