// Execution contexts.
#include <stdexcept>

#include "bindings.h"

namespace camshaft::python {

using namespace nvinfer1;

namespace {

using Context = IExecutionContext;
using Class = nb::class_<Context>;

bool execute(Context& self, const std::vector<uintptr_t>& bindings) {
  const auto wanted = static_cast<size_t>(self.getEngine().getNbIOTensors());
  if (bindings.size() != wanted)
    throw nb::value_error(("execute_v2 needs " + std::to_string(wanted) +
                           " addresses, one per input and output, not " +
                           std::to_string(bindings.size()))
                              .c_str());
  std::vector<void*> addresses;
  for (const uintptr_t binding : bindings) addresses.push_back(pointer(binding));
  return checkedUnlocked("execute_v2", [&] { return self.executeV2(addresses.data()); });
}

// What the user implements, and the context calls while it runs: it keeps it alive.
template <class T, class Get, class R>
void bindHeld(Class& c, const char* name, Get get, R (Context::*set)(T*) noexcept) {
  c.def_prop_rw(
      name, get,
      [name, set](nb::handle_t<Context> self, T* value) {
        raising(set)(nb::cast<Context&>(self), value);
        hold(self, name, nb::find(value));
      },
      nb::for_setter(nb::arg().none()), nb::for_getter(nb::rv_policy::reference));
}

void bindMemory(Class& c) {
  c.def_prop_rw("device_memory", nullptr,
                [](Context& self, uintptr_t memory) {
                  raising (&Context::setDeviceMemory)(self, pointer(memory));
                })
      .def(
          "set_device_memory",
          [](Context& self, uintptr_t memory, int64_t size) {
            raising (&Context::setDeviceMemoryV2)(self, pointer(memory), size);
          },
          "memory"_a, "size"_a)
      .def("update_device_memory_size_for_shapes",
           raising(&Context::updateDeviceMemorySizeForShapes))
      .def_prop_rw("persistent_cache_limit", &Context::getPersistentCacheLimit,
                   raising(&Context::setPersistentCacheLimit))
      .def_prop_rw("temporary_allocator", &Context::getTemporaryStorageAllocator,
                   raising(&Context::setTemporaryStorageAllocator),
                   nb::for_setter(nb::keep_alive<1, 2>()), nb::for_setter(nb::arg().none()),
                   nb::for_getter(nb::rv_policy::reference));
}

void bindDebugging(Class& c) {
  bindHeld<IProfiler>(c, "profiler", &Context::getProfiler, &Context::setProfiler);
  c.def(
       "set_debug_listener",
       [](nb::handle_t<Context> self, IDebugListener* listener) {
         const bool ok = raising(&Context::setDebugListener)(nb::cast<Context&>(self), listener);
         if (ok) hold(self, "debug_listener", nb::find(listener));
         return ok;
       },
       "listener"_a.none())
      .def("get_debug_listener", &Context::getDebugListener, nb::rv_policy::reference)
      .def("set_tensor_debug_state", raising(&Context::setTensorDebugState), "name"_a, "flag"_a)
      .def("get_debug_state", raising(&Context::getDebugState), "name"_a)
      .def("set_all_tensors_debug_state", raising(&Context::setAllTensorsDebugState), "flag"_a)
      .def_prop_rw("unfused_tensors_debug_state", &Context::getUnfusedTensorsDebugState,
                   raising(&Context::setUnfusedTensorsDebugState))
      .def_prop_rw("nvtx_verbosity", &Context::getNvtxVerbosity,
                   raising(&Context::setNvtxVerbosity));
}

void bindStreams(Class& c) {
  c.def(
       "set_aux_streams",
       [](Context& self, const std::vector<Stream>& streams) {
         std::vector<cudaStream_t> handles;
         for (const Stream& stream : streams) handles.push_back(stream.handle);
         raising (&Context::setAuxStreams)(self, handles.data(),
                                           static_cast<int32_t>(handles.size()));
       },
       "aux_streams"_a)
      .def(
          "set_communicator",
          [](Context& self, uintptr_t communicator) {
            return raising(&Context::setCommunicator)(self, pointer(communicator));
          },
          "communicator"_a)
      .def("get_runtime_config", &Context::getRuntimeConfig, nb::rv_policy::take_ownership,
           nb::keep_alive<0, 1>());
}

}  // namespace

void bindContext(nb::module_& m) {
  Class c(m, "IExecutionContext", nb::dynamic_attr());
  bindLifetime(c, "def __enter__(self) -> IExecutionContext");
  c.def_prop_ro("engine", &Context::getEngine, nb::rv_policy::reference_internal)
      .def_prop_rw("name", text(&Context::getName), raising(&Context::setName))
      .def_prop_rw("debug_sync", &Context::getDebugSync, &Context::setDebugSync)
      .def_prop_rw("enqueue_emits_profile", &Context::getEnqueueEmitsProfile,
                   &Context::setEnqueueEmitsProfile)
      .def_prop_rw("error_recorder", &Context::getErrorRecorder, &Context::setErrorRecorder,
                   nb::for_setter(nb::keep_alive<1, 2>()), nb::for_setter(nb::arg().none()))
      .def_prop_ro("active_optimization_profile", &Context::getOptimizationProfile)
      .def_prop_ro("all_binding_shapes_specified", &Context::allInputDimensionsSpecified)
      .def_prop_ro("all_shape_inputs_specified", &Context::allInputShapesSpecified)
      .def(
          "set_optimization_profile_async",
          [](Context& self, int32_t profile, Stream stream) {
            return self.setOptimizationProfileAsync(profile, stream.handle);
          },
          "profile_index"_a, "stream_handle"_a = 0)
      .def("set_input_shape", &Context::setInputShape, "name"_a, "shape"_a)
      .def("get_tensor_shape", raising(&Context::getTensorShape), "name"_a)
      .def("get_tensor_strides", raising(&Context::getTensorStrides), "name"_a)
      .def(
          "set_tensor_address",
          [](Context& self, const char* name, uintptr_t memory) {
            return self.setTensorAddress(name, pointer(memory));
          },
          "name"_a, "memory"_a)
      .def(
          "get_tensor_address",
          [](const Context& self, const char* name) {
            return address(self.getTensorAddress(name));
          },
          "name"_a)
      .def(
          "set_output_allocator",
          [](nb::handle_t<Context> self, const char* name, IOutputAllocator* allocator) {
            const bool ok = nb::cast<Context&>(self).setOutputAllocator(name, allocator);
            if (ok) hold(self, std::string("output_allocator_") + name, nb::find(allocator));
            return ok;
          },
          "name"_a, "output_allocator"_a.none())
      .def("get_output_allocator", raising(&Context::getOutputAllocator), "name"_a,
           nb::rv_policy::reference)
      .def("get_max_output_size", raising(&Context::getMaxOutputSize), "name"_a)
      .def(
          "set_input_consumed_event",
          [](Context& self, uintptr_t event) {
            return self.setInputConsumedEvent(reinterpret_cast<cudaEvent_t>(event));
          },
          "event"_a)
      .def("get_input_consumed_event",
           [](const Context& self) { return address(self.getInputConsumedEvent()); })
      .def("infer_shapes",
           [](Context& self) {
             std::vector<const char*> names(static_cast<size_t>(self.getEngine().getNbIOTensors()));
             forgetReason();
             const int32_t count =
                 self.inferShapes(static_cast<int32_t>(names.size()), names.data());
             if (count < 0) {
               raiseReason("infer_shapes");
               throw std::runtime_error("infer_shapes failed; the log says why");
             }
             names.resize(static_cast<size_t>(count));
             nb::list missing;
             for (const char* name : names) missing.append(textOf(name));
             return missing;
           })
      .def(
          "execute_async_v3",
          [](Context& self, Stream stream) {
            return checkedUnlocked("execute_async_v3",
                                   [&] { return self.enqueueV3(stream.handle); });
          },
          "stream_handle"_a = 0)
      .def("execute_v2", &execute, "bindings"_a)
      .def("report_to_profiler", &Context::reportToProfiler);
  bindMemory(c);
  bindDebugging(c);
  bindStreams(c);
}

}  // namespace camshaft::python
