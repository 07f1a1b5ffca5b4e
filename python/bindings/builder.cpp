// Builder, its configuration, profiles and timing caches.
#include "CamshaftFiles.h"
#include "bindings.h"

namespace camshaft::python {

using namespace nvinfer1;

namespace {

constexpr OptProfileSelector kSelectors[] = {OptProfileSelector::kMIN, OptProfileSelector::kOPT,
                                             OptProfileSelector::kMAX};

void raiseUnless(bool ok, const char* call) {
  if (!ok) raiseReason(call);
}

// For calls that belong to no object with a logger: their reason is raised, and logged nowhere.
ILogger& quietLogger() {
  struct Quiet : ILogger {
    void log(Severity, const char*) noexcept override {}
  };
  static Quiet quiet;
  return remembering(quiet);
}

void writeBytes(nb::object path, nb::handle data) {
  const std::string name = nb::cast<std::string>(nb::str(path));
  Py_buffer view;
  if (PyObject_GetBuffer(data.ptr(), &view, PyBUF_SIMPLE) != 0) throw nb::python_error();
  forgetReason();
  const bool ok = writeFile(name.c_str(), view.buf, static_cast<size_t>(view.len), quietLogger());
  PyBuffer_Release(&view);
  raiseUnless(ok, "write_file");
}

void bindProfile(nb::module_& m) {
  nb::class_<IOptimizationProfile>(m, "IOptimizationProfile")
      .def(
          "set_shape",
          [](IOptimizationProfile& self, const char* input, const Dims& min, const Dims& opt,
             const Dims& max) {
            forgetReason();
            const Dims* dims[] = {&min, &opt, &max};
            for (int i = 0; i < 3; ++i)
              raiseUnless(self.setDimensions(input, kSelectors[i], *dims[i]), "set_shape");
          },
          "input"_a, "min"_a, "opt"_a, "max"_a)
      .def(
          "get_shape",
          [](const IOptimizationProfile& self, const char* input) {
            nb::list shapes;
            if (self.getDimensions(input, OptProfileSelector::kMIN).nbDims < 0) return shapes;
            for (auto select : kSelectors) shapes.append(self.getDimensions(input, select));
            return shapes;
          },
          "input"_a)
      .def(
          "set_shape_input",
          [](IOptimizationProfile& self, const char* input, const std::vector<int64_t>& min,
             const std::vector<int64_t>& opt, const std::vector<int64_t>& max) {
            forgetReason();
            const std::vector<int64_t>* values[] = {&min, &opt, &max};
            for (int i = 0; i < 3; ++i)
              raiseUnless(self.setShapeValuesV2(input, kSelectors[i], values[i]->data(),
                                                static_cast<int32_t>(values[i]->size())),
                          "set_shape_input");
          },
          "input"_a, "min"_a, "opt"_a, "max"_a)
      .def(
          "get_shape_input",
          [](const IOptimizationProfile& self, const char* input) {
            nb::list all;
            const int32_t count = self.getNbShapeValues(input);
            for (auto select : kSelectors) {
              if (count < 0) break;
              const int64_t* values = self.getShapeValuesV2(input, select);
              if (!values && count > 0)
                throw nb::value_error(
                    "the shape input was not given as many values for min and max as for opt");
              all.append(values ? std::vector<int64_t>(values, values + count)
                                : std::vector<int64_t>());
            }
            return all;
          },
          "input"_a)
      .def("__bool__", &IOptimizationProfile::isValid);
}

void bindConfig(nb::module_& m) {
  nb::class_<ITimingCache>(m, "ITimingCache")
      .def(
          "serialize",
          [](const ITimingCache& self) {
            return checked("serialize", [&] { return self.serialize(); });
          },
          nb::rv_policy::take_ownership)
      .def(
          "save",
          [](ITimingCache& self, nb::object path) {
            const std::string name = nb::cast<std::string>(nb::str(path));
            forgetReason();
            raiseUnless(saveTimingCache(name.c_str(), self, quietLogger()), "save");
          },
          "path"_a, "Writes the file, together with what other builds have added to it meanwhile.")
      .def("combine", &ITimingCache::combine, "input_cache"_a, "ignore_mismatch"_a)
      .def("reset", &ITimingCache::reset);

  nb::class_<IBuilderConfig>(m, "IBuilderConfig", nb::dynamic_attr())
      .def("reset", &IBuilderConfig::reset)
      .def_prop_rw("flags", &IBuilderConfig::getFlags, raising(&IBuilderConfig::setFlags))
      .def("set_flag", raising(&IBuilderConfig::setFlag), "flag"_a)
      .def("clear_flag", raising(&IBuilderConfig::clearFlag), "flag"_a)
      .def("get_flag", raising(&IBuilderConfig::getFlag), "flag"_a)
      .def_prop_rw("default_device_type", &IBuilderConfig::getDefaultDeviceType,
                   raising(&IBuilderConfig::setDefaultDeviceType))
      .def_prop_rw("builder_optimization_level", &IBuilderConfig::getBuilderOptimizationLevel,
                   raising(&IBuilderConfig::setBuilderOptimizationLevel))
      .def_prop_rw("compute_capability", &IBuilderConfig::getComputeCapability,
                   raising(&IBuilderConfig::setComputeCapability))
      .def("set_pass_enabled", raising(&IBuilderConfig::setPassEnabled), "name"_a, "enabled"_a)
      .def("is_pass_enabled", &IBuilderConfig::isPassEnabled, "name"_a)
      .def_prop_rw("graph_folder", &IBuilderConfig::getGraphFolder,
                   raising(&IBuilderConfig::setGraphFolder))
      .def_prop_rw("avg_timing_iterations", &IBuilderConfig::getAvgTimingIterations,
                   raising(&IBuilderConfig::setAvgTimingIterations))
      .def_prop_rw("max_aux_streams", &IBuilderConfig::getMaxAuxStreams,
                   raising(&IBuilderConfig::setMaxAuxStreams))
      .def("set_memory_pool_limit", raising(&IBuilderConfig::setMemoryPoolLimit), "pool"_a,
           "pool_size"_a)
      .def("get_memory_pool_limit", raising(&IBuilderConfig::getMemoryPoolLimit), "pool"_a)
      .def_prop_rw("profiling_verbosity", &IBuilderConfig::getProfilingVerbosity,
                   raising(&IBuilderConfig::setProfilingVerbosity))
      .def_prop_rw(
          "progress_monitor", &IBuilderConfig::getProgressMonitor,
          [](nb::handle_t<IBuilderConfig> self, IProgressMonitor* monitor) {
            nb::cast<IBuilderConfig&>(self).setProgressMonitor(monitor);
            hold(self, "progress_monitor", nb::find(monitor));
          },
          nb::for_setter(nb::arg().none()), nb::for_getter(nb::rv_policy::reference))
      .def(
          "add_optimization_profile",
          [](IBuilderConfig& self, const IOptimizationProfile& profile) {
            forgetReason();
            const int32_t index = self.addOptimizationProfile(&profile);
            raiseUnless(index >= 0, "add_optimization_profile");
            return index;
          },
          "profile"_a)
      .def_prop_ro("num_optimization_profiles", &IBuilderConfig::getNbOptimizationProfiles)
      .def(
          "create_timing_cache",
          [](const IBuilderConfig& self, nb::bytes serialized) {
            return checked("create_timing_cache", [&] {
              return self.createTimingCache(serialized.c_str(), serialized.size());
            });
          },
          "serialized_timing_cache"_a, nb::rv_policy::take_ownership)
      .def(
          "set_timing_cache",
          [](nb::handle_t<IBuilderConfig> self, ITimingCache& cache, bool ignoreMismatch) {
            const bool ok = nb::cast<IBuilderConfig&>(self).setTimingCache(cache, ignoreMismatch);
            hold(self, "timing_cache", nb::find(cache));
            return ok;
          },
          "cache"_a, "ignore_mismatch"_a)
      .def("get_timing_cache", &IBuilderConfig::getTimingCache, nb::rv_policy::reference_internal);
}

}  // namespace

void bindBuilder(nb::module_& m) {
  bindProfile(m);
  bindConfig(m);
  m.def(
      "write_file", &writeBytes, "path"_a, "data"_a,
      "Writes a new file beside `path` and renames it: whatever fails, the old one is as it was.");
  nb::class_<IBuilder>(m, "Builder")
      .def(nb::new_([](ILogger& logger) {
             return checked("Builder", [&] { return createInferBuilder(remembering(logger)); });
           }),
           "logger"_a, nb::keep_alive<0, 2>())
      .def(
          "create_network",
          [](IBuilder& self, NetworkDefinitionCreationFlags flags) {
            return checked("create_network", [&] { return self.createNetworkV2(flags); });
          },
          "flags"_a = 0, nb::rv_policy::take_ownership, nb::keep_alive<0, 1>())
      .def(
          "create_builder_config",
          [](IBuilder& self) {
            return checked("create_builder_config", [&] { return self.createBuilderConfig(); });
          },
          nb::rv_policy::take_ownership, nb::keep_alive<0, 1>())
      .def(
          "create_optimization_profile",
          [](IBuilder& self) {
            return checked("create_optimization_profile",
                           [&] { return self.createOptimizationProfile(); });
          },
          nb::rv_policy::reference_internal)
      .def(
          "build_serialized_network",
          [](IBuilder& self, INetworkDefinition& network, IBuilderConfig& config) {
            forgetReason();
            IHostMemory* engine = nullptr;
            {
              const Unlocked unlocked;
              engine = self.buildSerializedNetwork(network, config);
            }
            if (!engine) raiseReason("build_serialized_network");
            return engine;
          },
          "network"_a, "config"_a, nb::rv_policy::take_ownership)
      .def_prop_ro("platform_has_fast_fp16", &IBuilder::platformHasFastFp16)
      .def_prop_ro("platform_has_fast_int8", &IBuilder::platformHasFastInt8)
      .def_prop_ro("platform_has_tf32", &IBuilder::platformHasTf32)
      .def("is_network_supported", &IBuilder::isNetworkSupported, "network"_a, "config"_a)
      .def_prop_rw("max_threads", &IBuilder::getMaxThreads, raising(&IBuilder::setMaxThreads))
      .def_prop_rw("error_recorder", &IBuilder::getErrorRecorder, &IBuilder::setErrorRecorder,
                   nb::for_setter(nb::keep_alive<1, 2>()), nb::for_setter(nb::arg().none()))
      .def("reset", &IBuilder::reset);
}

}  // namespace camshaft::python
