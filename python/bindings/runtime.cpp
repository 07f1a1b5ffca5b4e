// Runtime.
#include "bindings.h"

namespace camshaft::python {

using namespace nvinfer1;

namespace {

// The engine keeps its runtime alive.
template <class Class, class Source>
void bindDeserialize(Class& c, const char* argument, ICudaEngine* (*read)(IRuntime&, Source)) {
  c.def(
      "deserialize_cuda_engine",
      [read](IRuntime& self, Source source) {
        return checked("deserialize_cuda_engine", [&] { return read(self, source); });
      },
      nb::arg(argument), nb::rv_policy::take_ownership, nb::keep_alive<0, 1>());
}

ICudaEngine* fromBytes(IRuntime& runtime, nb::handle source) {
  const Bytes bytes(source);
  const Unlocked unlocked;
  return runtime.deserializeCudaEngine(bytes.data(), bytes.size());
}

template <class Reader>
ICudaEngine* fromReader(IRuntime& runtime, Reader& reader) {
  const Unlocked unlocked;
  return runtime.deserializeCudaEngine(reader);
}

}  // namespace

void bindRuntime(nb::module_& m) {
  nb::class_<IRuntime> c(m, "Runtime");
  bindLifetime(c, "def __enter__(self) -> Runtime");
  // __new__ has the class as its first argument, so the logger is the second.
  c.def(nb::new_([](ILogger& logger) {
          return checked("Runtime", [&] { return createInferRuntime(remembering(logger)); });
        }),
        "logger"_a, nb::keep_alive<0, 2>());
  bindDeserialize<decltype(c), IStreamReader&>(c, "stream_reader", &fromReader<IStreamReader>);
  bindDeserialize<decltype(c), IStreamReaderV2&>(c, "stream_reader_v2",
                                                 &fromReader<IStreamReaderV2>);
  bindDeserialize<decltype(c), nb::handle>(c, "serialized_engine", &fromBytes);
  c.def(
       "deserialize_cuda_engine_from_file",
       [](IRuntime& self, nb::object path) {
         const std::string text = nb::cast<std::string>(nb::str(path));
         return checkedUnlocked("deserialize_cuda_engine_from_file",
                                [&] { return self.deserializeCudaEngineFromFile(text.c_str()); });
       },
       "path"_a, nb::rv_policy::take_ownership, nb::keep_alive<0, 1>())
      .def_prop_ro(
          "logger", [](const IRuntime& self) { return loggerOf(self.getLogger()); },
          nb::rv_policy::reference)
      .def_prop_rw("max_threads", &IRuntime::getMaxThreads, raising(&IRuntime::setMaxThreads))
      .def_prop_rw("inspection_only", &IRuntime::getInspectionOnly, &IRuntime::setInspectionOnly)
      .def_prop_rw("DLA_core", &IRuntime::getDLACore, raising(&IRuntime::setDLACore))
      .def_prop_ro("num_DLA_cores", &IRuntime::getNbDLACores)
      .def_prop_rw("gpu_allocator", nullptr, raising(&IRuntime::setGpuAllocator),
                   nb::for_setter(nb::keep_alive<1, 2>()), nb::for_setter(nb::arg().none()))
      .def_prop_rw("temporary_directory", text(&IRuntime::getTemporaryDirectory),
                   raising(&IRuntime::setTemporaryDirectory), nb::for_setter(nb::arg().none()))
      .def_prop_rw("tempfile_control_flags", &IRuntime::getTempfileControlFlags,
                   raising(&IRuntime::setTempfileControlFlags))
      .def("get_plugin_registry", &IRuntime::getPluginRegistry, nb::rv_policy::reference)
      .def(
          "load_runtime",
          [](IRuntime& self, const char* path) {
            return checked("load_runtime", [&] { return self.loadRuntime(path); });
          },
          "path"_a, nb::rv_policy::take_ownership, nb::keep_alive<0, 1>())
      .def_prop_rw("engine_host_code_allowed", &IRuntime::getEngineHostCodeAllowed,
                   raising(&IRuntime::setEngineHostCodeAllowed))
      .def_prop_rw("error_recorder", &IRuntime::getErrorRecorder, &IRuntime::setErrorRecorder,
                   nb::for_setter(nb::keep_alive<1, 2>()), nb::for_setter(nb::arg().none()));
  bindThreadPool(c);
  bindEngine(m);
  bindContext(m);
  bindInference(m);
}

}  // namespace camshaft::python
